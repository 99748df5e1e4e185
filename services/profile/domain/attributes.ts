/** Custom attributes of a profile: a JSON object, kept as text. */
import { DaybookError, fieldErrorsMax, type ErrorCode } from "#shared/errors.ts";
import {
  canonicalJson,
  findJsonProblem,
  findJsonProblems,
  isJsonObject,
  parseJson,
  textProblem,
  type JsonObject,
  type JsonValue,
} from "#shared/json.ts";

const attributesBytesMax = 256 * 1024;
const attributesDepthMax = 32;
const operationsMax = 1000;

/** One step of a change; see AttributeOperation of the contract. */
export type AttributeOperation = { path: readonly string[] } & (
  | { op: "delete" }
  | { op: "set" | "append_unique" | "remove"; valueJson: string }
);

/**
 * Replaces whole top-level keys.
 * @param current the text of a JSON object.
 * @param patch the text of another; its keys win.
 * @throws DaybookError `parameter_invalid` when the patch or the result cannot be kept.
 */
export function mergeAttributes(current: string, patch: string): string {
  const changes = parsePatch(patch);
  // Pairs, so that a key named __proto__ is a key like any other.
  const merged = new Map([...Object.entries(parseJson(current) as object), ...Object.entries(changes)]);
  return write(Object.fromEntries(merged), "attributes");
}

/**
 * What a profile has after another was merged into it: its own values win, key by key.
 * @returns the attributes, and the keys that came from the other.
 * @throws DaybookError `parameter_invalid` when both together are too large for one profile.
 */
export function uniteAttributes(own: string, other: string): { attributes: string; moved: string[] } {
  const mine = parseJson(own) as JsonObject;
  const theirs = Object.entries(parseJson(other) as JsonObject).filter(([key]) => !Object.hasOwn(mine, key));
  if (theirs.length === 0) return { attributes: own, moved: [] };
  const united = Object.fromEntries([...Object.entries(mine), ...theirs]);
  return { attributes: write(united, "source_profile_id"), moved: theirs.map(([key]) => key) };
}

/**
 * Applies operations in order; all of them or none.
 * @param current the text of a JSON object.
 * @throws DaybookError `invalid_path`, `not_an_array` or `parameter_invalid`; params start with `attribute_operations.<index>`.
 */
export function applyOperations(current: string, operations: readonly AttributeOperation[]): string {
  if (operations.length > operationsMax) {
    const message = `There are at most ${operationsMax} operations in one write.`;
    throw new DaybookError("too_many_items", message, { param: "attribute_operations" });
  }
  const root = parseJson(current) as JsonObject;
  const sets = new Map<JsonValue[], ArrayAsSet>();
  for (const [index, operation] of operations.entries()) {
    apply(root, operation, `attribute_operations.${index}`, sets);
  }
  for (const set of sets.values()) set.settle();
  return write(root, "attribute_operations");
}

/** An array as a set, under many operations: each costs no more than its value, and the array is written once, at the end. */
class ArrayAsSet {
  readonly #array: JsonValue[];
  /** Of each item, removed or not, the canonical form. */
  readonly #names: string[];
  readonly #there: Set<string>;
  /** Those of a name that stand before this index are removed. */
  readonly #removedBefore = new Map<string, number>();

  constructor(array: JsonValue[]) {
    this.#array = array;
    this.#names = array.map(canonicalJson);
    this.#there = new Set(this.#names);
  }

  append(value: JsonValue): void {
    const name = canonicalJson(value);
    if (this.#there.has(name)) return;
    this.#there.add(name);
    this.#names.push(name);
    this.#array.push(value);
  }

  remove(value: JsonValue): void {
    const name = canonicalJson(value);
    if (this.#there.delete(name)) this.#removedBefore.set(name, this.#names.length);
  }

  settle(): void {
    if (this.#removedBefore.size === 0) return;
    const kept = this.#array.filter((_, index) => index >= (this.#removedBefore.get(this.#names[index] ?? "") ?? 0));
    for (const [index, value] of kept.entries()) this.#array[index] = value;
    this.#array.length = kept.length;
  }
}

function apply(
  root: JsonObject,
  operation: AttributeOperation,
  param: string,
  sets: Map<JsonValue[], ArrayAsSet>,
): void {
  const { op, path } = operation;
  // Each key takes a level, and so does the array.
  const levels = path.length + (op === "append_unique" ? 1 : 0);
  checkPath(path, levels, `${param}.path`);
  const depthMax = attributesDepthMax - levels;
  const value = op === "delete" ? undefined : readValue(operation.valueJson, depthMax, `${param}.value`);
  const makesObjects = op === "set" || op === "append_unique";
  const parent = findParent(root, path, makesObjects, `${param}.path`);
  const key = path.at(-1) as string;
  if (!parent) return;
  if (op === "set") return assign(parent, key, value);
  if (op === "delete") {
    delete parent[key];
    return;
  }
  if (!Object.hasOwn(parent, key)) {
    if (op === "append_unique") assign(parent, key, [value]);
    return;
  }
  const array = parent[key];
  if (!Array.isArray(array)) {
    throw refuse("not_an_array", "What stands at this path is not an array.", `${param}.path`);
  }
  const set = sets.get(array) ?? new ArrayAsSet(array);
  sets.set(array, set);
  if (op === "append_unique") set.append(value as JsonValue);
  else set.remove(value as JsonValue);
}

/** The object that holds the last key of a path; undefined when it is missing and is not to be made. */
function findParent(
  root: JsonObject,
  path: readonly string[],
  makesObjects: boolean,
  param: string,
): JsonObject | undefined {
  let parent = root;
  for (const key of path.slice(0, -1)) {
    if (!Object.hasOwn(parent, key)) {
      if (!makesObjects) return undefined;
      assign(parent, key, {});
    }
    const child = parent[key];
    if (!isJsonObject(child)) throw refuse("invalid_path", "This path leads through what is not an object.", param);
    parent = child;
  }
  return parent;
}

/** Sets a key, whatever its name: an assignment to `__proto__` would set no key. */
function assign(object: JsonObject, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function checkPath(path: readonly string[], levels: number, param: string): void {
  if (path.length === 0) throw refuse("parameter_missing", "A path has at least one key.", param);
  if (levels > attributesDepthMax) {
    throw refuse("parameter_invalid", `Attributes are nested at most ${attributesDepthMax} levels deep.`, param);
  }
  const problem = path.map(textProblem).find((reason) => reason !== undefined);
  if (problem !== undefined) throw refuse("parameter_invalid", `A key of this path ${problem}.`, param);
}

function readValue(text: string, depthMax: number, param: string): unknown {
  if (text.length > attributesBytesMax) {
    const message = `A value takes at most ${attributesBytesMax / 1024} KiB, as all attributes together do.`;
    throw refuse("parameter_invalid", message, param);
  }
  const value = parse(text, param);
  const problem = findJsonProblem(value, depthMax);
  if (problem) throw refuse("parameter_invalid", `This value ${problem.reason}.`, [param, ...problem.path].join("."));
  return value;
}

function parsePatch(text: string): object {
  const value = parse(text, "attributes");
  if (!isJsonObject(value)) throw refuse("parameter_invalid", "The attributes are not a JSON object.", "attributes");
  const problems = findJsonProblems(value, attributesDepthMax, fieldErrorsMax);
  if (problems.length > 0) {
    throw DaybookError.ofFields(
      problems.map(({ path, reason }) => ({
        code: "parameter_invalid",
        message: `This attribute ${reason}.`,
        param: ["attributes", ...path].join("."),
      })),
    );
  }
  return value;
}

function parse(text: string, param: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw refuse("parameter_invalid", "This is not JSON.", param, error);
  }
}

function write(attributes: object, param: string): string {
  const text = JSON.stringify(attributes);
  if (Buffer.byteLength(text) > attributesBytesMax) {
    const message = `The attributes of a profile take at most ${attributesBytesMax / 1024} KiB together.`;
    throw refuse("parameter_invalid", message, param);
  }
  return text;
}

function refuse(code: ErrorCode, message: string, param: string, cause?: unknown): DaybookError {
  return new DaybookError(code, message, { param, cause });
}
