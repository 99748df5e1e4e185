/** Custom attributes of a profile: a JSON object, stored as text. */
import { checkFaults, fieldErrorsMax, type FieldError } from "#shared/values/errors.ts";
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from "#shared/json/json.ts";
import { count } from "#shared/values/count.ts";
import { findContentFaults } from "#shared/values/json-fields.ts";
import { mismatch, quoteName } from "#shared/values/wording.ts";
import { findTotalSizeFault, readJson } from "./attribute-limits.ts";
import { applyOperation, assign, type AttributeOperation, type ArraySets } from "./attribute-operations.ts";

const operationsMax = 1000;

/** A top-level key with its value. */
interface Entry {
  key: string;
  /** Both as JSON: `"key":value`. */
  member: string;
  /** The parsed value, once an operation has used it. */
  value?: JsonValue;
}

/**
 * Attributes that take several changes. They are parsed once. A change then parses and serializes only the keys that it
 * touches, because the text is joined from those of the keys.
 */
export class Attributes {
  #text: string;
  // The undo of the last change, and the text before it.
  #last: { undo: Undo; text: string } | undefined;
  // By key, in order of insertion; undefined until the first change.
  #entries: Map<string, Entry> | undefined;
  readonly #sets: ArraySets = new WeakMap();

  /** @param text of a JSON object. */
  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }

  /**
   * Replaces whole top-level keys, then applies operations in order; all or nothing.
   * @param patch the text of a JSON object; its keys win.
   * @param operations undefined for one that was already refused.
   * @param faults collects why nothing is changed: `invalid_path`, `not_an_array`, `too_many_items` or
   * `parameter_invalid`; params are or start with `attributes` or `attribute_operations`.
   */
  change(
    patch: string | undefined,
    operations: readonly (AttributeOperation | undefined)[],
    faults: FieldError[],
  ): void {
    if (operations.length > operationsMax) {
      const message =
        `${quoteName("attribute_operations")} must have at most ${count(operationsMax)} operations; ` +
        `got ${count(operations.length)}.`;
      faults.push({ code: "too_many_items", message, param: "attribute_operations" });
      return;
    }
    const faultsBefore = faults.length;
    const changes = patch === undefined ? undefined : readPatch(patch, faults);
    const textBefore = this.#text;
    const entries = (this.#entries ??= readEntries(textBefore));
    const undo = new Undo(entries);
    if (changes) this.#merge(entries, changes, undo, faults);
    if (operations.length > 0) this.#operate(entries, operations, undo, faults);
    if (faults.length === faultsBefore) {
      this.#last = { undo, text: textBefore };
      return;
    }
    this.#text = textBefore;
    this.#entries = undo.restore();
  }

  /** Reverts the last change if `text` is from before it. @throws RangeError if it is neither that nor current. */
  revertTo(text: string): void {
    if (text === this.#text) return;
    if (text !== this.#last?.text) throw new RangeError("only the last change can be taken back");
    this.#text = text;
    this.#entries = this.#last.undo.restore();
    this.#last = undefined;
  }

  #merge(entries: Map<string, Entry>, changes: readonly [string, unknown][], undo: Undo, faults: FieldError[]): void {
    for (const [key, value] of changes) {
      undo.note(key);
      entries.set(key, entryOf(key, value));
    }
    this.#write(entries, "attributes", faults);
  }

  #operate(
    entries: Map<string, Entry>,
    operations: readonly (AttributeOperation | undefined)[],
    undo: Undo,
    faults: FieldError[],
  ): void {
    const faultsBefore = faults.length;
    const unsettled = new Set<{ settle(): void }>();
    const changed = new Set<string>();
    for (const [index, operation] of operations.entries()) {
      if (faults.length >= fieldErrorsMax) return;
      if (!operation) continue;
      const [key = ""] = operation.path;
      const entry = entries.get(key);
      undo.note(key);
      changed.add(key);
      const root: JsonObject = {};
      if (entry) {
        // Not with ??=: null is a value too.
        if (entry.value === undefined) entry.value = valueOf(entry);
        assign(root, key, entry.value);
      }
      const set = applyOperation(root, operation, `attribute_operations.${index}`, this.#sets, faults);
      if (set) unsettled.add(set);
      if (Object.hasOwn(root, key)) entries.set(key, { key, member: "", value: root[key] });
      else if (entry) undo.remove(key);
    }
    if (faults.length > faultsBefore) return;
    for (const set of unsettled) set.settle();
    for (const key of changed) {
      const entry = entries.get(key);
      if (entry) entries.set(key, entryOf(key, entry.value));
    }
    this.#write(entries, "attribute_operations", faults);
  }

  #write(entries: ReadonlyMap<string, Entry>, param: string, faults: FieldError[]): void {
    this.#text = textOf(entries);
    const tooLarge = findTotalSizeFault(this.#text, param);
    if (tooLarge) faults.push(tooLarge);
  }
}

/** Reverts a change. */
class Undo {
  readonly #entries: Map<string, Entry>;
  readonly #before = new Map<string, Entry | undefined>();
  // The entries before the first removal, because a removed key cannot be put back in its place.
  #order: Entry[] | undefined;

  constructor(entries: Map<string, Entry>) {
    this.#entries = entries;
  }

  /** Saves the entry of a key before it changes. */
  note(key: string): void {
    if (!this.#before.has(key)) this.#before.set(key, this.#entries.get(key));
  }

  /** Removes a key that was noted. */
  remove(key: string): void {
    this.#order ??= [...this.#entries.values()];
    this.#entries.delete(key);
  }

  /** The entries before the change. */
  restore(): Map<string, Entry> {
    const restored = new Map<string, Entry>();
    for (const entry of this.#order ?? this.#entries.values()) {
      const { key } = entry;
      if (!this.#before.has(key)) {
        restored.set(key, entry);
        continue;
      }
      const before = this.#before.get(key);
      // Without the parsed value, because an operation may have changed it in place.
      if (before) restored.set(key, { key, member: before.member });
    }
    return restored;
  }
}

function readEntries(text: string): Map<string, Entry> {
  const entries = Object.entries(parseJson(text) as JsonObject);
  return new Map(entries.map(([key, value]) => [key, { key, member: memberOf(key, value) }]));
}

function entryOf(key: string, value: unknown): Entry {
  return { key, member: memberOf(key, value), value: value as JsonValue };
}

function memberOf(key: string, value: unknown): string {
  return `${JSON.stringify(key)}:${JSON.stringify(value)}`;
}

function valueOf({ key, member }: Entry): JsonValue {
  return (parseJson(`{${member}}`) as JsonObject)[key] as JsonValue;
}

const digit = { first: 0x30, last: 0x39 };
const indexPattern = /^(?:0|[1-9]\d{0,9})$/;
const indexMax = 2 ** 32 - 2;

/** The text, in the key order of a JavaScript object: array indexes first, in ascending order. */
function textOf(entries: ReadonlyMap<string, Entry>): string {
  const indexed: Entry[] = [];
  const others: string[] = [];
  for (const entry of entries.values()) {
    if (isIndex(entry.key)) indexed.push(entry);
    else others.push(entry.member);
  }
  const first = indexed.toSorted((one, other) => Number(one.key) - Number(other.key)).map(({ member }) => member);
  return `{${[...first, ...others].join(",")}}`;
}

function isIndex(key: string): boolean {
  const code = key.charCodeAt(0);
  // The first character is checked first, because nearly all keys are not indexes.
  return code >= digit.first && code <= digit.last && indexPattern.test(key) && Number(key) <= indexMax;
}

/**
 * Merges the attributes of another profile into those of a profile, whose own values win, key by key.
 * @returns the attributes, and the keys that came from the other.
 * @throws DaybookError `parameter_invalid` when both together are too large for one profile.
 */
export function mergeAttributes(own: string, other: string): { attributes: string; moved: string[] } {
  const mine = parseJson(own) as JsonObject;
  const theirs = Object.entries(parseJson(other) as JsonObject).filter(([key]) => !Object.hasOwn(mine, key));
  if (theirs.length === 0) return { attributes: own, moved: [] };
  const united = Object.fromEntries([...Object.entries(mine), ...theirs]);
  const text = JSON.stringify(united);
  const tooLarge = findTotalSizeFault(text, "source_profile_id");
  checkFaults(tooLarge ? [tooLarge] : []);
  return { attributes: text, moved: theirs.map(([key]) => key) };
}

/** The keys and values of a patch; undefined if it is invalid, with the reasons in `faults`. */
function readPatch(text: string, faults: FieldError[]): [string, unknown][] | undefined {
  const value = readJson(text, "attributes", faults);
  if (value === undefined) return undefined;
  if (!isJsonObject(value)) {
    faults.push(mismatch("attributes", "an object", value));
    return undefined;
  }
  const contentFaults = findContentFaults(value, "attributes");
  faults.push(...contentFaults);
  return contentFaults.length === 0 ? Object.entries(value) : undefined;
}
