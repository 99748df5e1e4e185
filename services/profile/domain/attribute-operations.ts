/** Operations on attributes: each changes the value at a path. */
import type { FieldError } from "#shared/values/errors.ts";
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from "#shared/json/json.ts";
import { findPathFault, levelsOf } from "#shared/values/attribute-operations.ts";
import { findContentFaults, findSizeFault } from "#shared/values/json-fields.ts";
import { quoteName } from "#shared/values/wording.ts";
import { readJson } from "./attribute-limits.ts";

/** One step of a change; see AttributeOperation of the contract. */
export type AttributeOperation = { path: readonly string[] } & (
  | { op: "delete" }
  | { op: "set" | "append_unique" | "remove"; valueJson: string }
);

/** An array as a set. Each operation costs no more than its value, because `settle` removes all items at once. */
class ArrayAsSet {
  readonly #array: JsonValue[];
  /** The canonical form of each item, removed or not. */
  readonly #names: string[];
  readonly #there: Set<string>;
  /** Items with this name before this index are removed. */
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
    let kept = 0;
    for (const [index, name] of this.#names.entries()) {
      if (index < (this.#removedBefore.get(name) ?? 0)) continue;
      this.#names[kept] = name;
      this.#array[kept] = this.#array[index] as JsonValue;
      kept++;
    }
    this.#names.length = this.#array.length = kept;
    this.#removedBefore.clear();
  }
}

/** The sets of arrays that operations have used. */
export type ArraySets = WeakMap<JsonValue[], ArrayAsSet>;

/**
 * Applies one operation.
 * @param root holds at least the first key of its path, if the attributes have it.
 * @param sets collects the array that the operation uses, if any.
 * @param faults collects why the operation is impossible.
 * @returns that array as a set, to be settled after the last operation.
 */
export function applyOperation(
  root: JsonObject,
  operation: AttributeOperation,
  param: string,
  sets: ArraySets,
  faults: FieldError[],
): ArrayAsSet | undefined {
  const { op, path } = operation;
  const faultsBefore = faults.length;
  const pathFault = findPathFault(op, path, `${param}.path`);
  if (pathFault) faults.push(pathFault);
  const value =
    op === "delete" ? undefined : readValue(operation.valueJson, levelsOf(op, path), `${param}.value`, faults);
  if (faults.length > faultsBefore) return undefined;
  const makesObjects = op === "set" || op === "append_unique";
  const parent = findParent(root, path, makesObjects, `${param}.path`, faults);
  const key = path.at(-1) as string;
  if (!parent) return undefined;
  if (op === "set") assign(parent, key, value);
  else if (op === "delete") delete parent[key];
  else if (Object.hasOwn(parent, key)) {
    const array = parent[key];
    if (!Array.isArray(array)) {
      const message =
        `${quoteName(`${param}.path`)} must lead to an array for the operation "${op}"; ` +
        "the profile has another value there.";
      faults.push({ code: "not_an_array", message, param: `${param}.path` });
      return undefined;
    }
    const set = sets.get(array) ?? new ArrayAsSet(array);
    sets.set(array, set);
    if (op === "append_unique") set.append(value as JsonValue);
    else set.remove(value as JsonValue);
    return set;
  } else if (op === "append_unique") assign(parent, key, [value]);
  return undefined;
}

/** The object that holds the last key of a path; undefined if it is missing, and may not or cannot be created. */
function findParent(
  root: JsonObject,
  path: readonly string[],
  makesObjects: boolean,
  param: string,
  faults: FieldError[],
): JsonObject | undefined {
  let parent = root;
  for (const key of path.slice(0, -1)) {
    if (!Object.hasOwn(parent, key)) {
      if (!makesObjects) return undefined;
      assign(parent, key, {});
    }
    const child = parent[key];
    if (!isJsonObject(child)) {
      const message = `${quoteName(param)} must lead through objects; the profile has another value on the way.`;
      faults.push({ code: "invalid_path", message, param });
      return undefined;
    }
    parent = child;
  }
  return parent;
}

/** Sets a key of any name, because a plain assignment to `__proto__` would set no key. */
export function assign(object: JsonObject, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function readValue(text: string, levels: number, param: string, faults: FieldError[]): unknown {
  const tooLarge = findSizeFault(text, param);
  if (tooLarge) faults.push(tooLarge);
  const value = tooLarge ? undefined : readJson(text, param, faults);
  if (value !== undefined) faults.push(...findContentFaults(value, param, levels));
  return value;
}
