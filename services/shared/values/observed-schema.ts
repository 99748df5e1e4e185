/** The observed schema of JSON objects: their paths, and the types of their values. */
import { parseDateTime } from "./time.ts";

/** The type of the values of a path. */
export type ValueTypeName = "string" | "number" | "boolean" | "timestamp" | "array" | "object" | "mixed";

/** Path to type. A Map, so that `__proto__` is an ordinary key. */
export type ObservedSchema = Map<string, ValueTypeName>;
type ReadonlySchema = ReadonlyMap<string, ValueTypeName>;

/** Paths of one schema; further ones are skipped. */
export const pathsMax = 500;
/** Longer paths are skipped, with all paths below them. */
const pathLengthMax = 255;
/** The sum over all paths of one schema. */
const charactersMax = 32 * 1024;
/** Only so many values of an object are visited: enough for more than 500 paths and some lists of objects. */
const visitsMax = 5_000;

/**
 * Adds the paths of an object. Nested objects give `a` and `a.b`, lists `items` and `items[].sku`, null nothing. A path
 * with two types is mixed.
 */
export function observe(schema: ObservedSchema, object: object): void {
  walk(object, (path, type) => note(schema, path, type));
}

/** Visits the paths of an object, some repeatedly, up to 5,000 values. */
export function walk(object: object, visit: (path: string, type: ValueTypeName) => void): void {
  let visits = 0;
  const limited: Visit = (path, type) => {
    visit(path, type);
    return ++visits < visitsMax;
  };
  walkFields(limited, "", object);
}

/** @returns whether to continue. */
type Visit = (path: string, type: ValueTypeName) => boolean;

/** Adds another schema. The result does not depend on the order, except for the limits. */
export function mergeSchema(schema: ObservedSchema, other: ReadonlySchema): void {
  for (const [path, type] of other) note(schema, path, type);
}

/** Whether mergeSchema would change a schema. */
export function teaches(schema: ReadonlySchema, other: ReadonlySchema): boolean {
  return [...other].some(([path, type]) => isNews(schema, path, type));
}

function walkFields(visit: Visit, prefix: string, fields: object): boolean {
  // Not Object.keys, because there may be far more keys than visits.
  for (const key in fields) {
    // Checked before joining, because a key of 100,000 characters may have 10,000 others below it.
    if (prefix.length + key.length > pathLengthMax) continue;
    if (!walkValue(visit, prefix + key, (fields as Record<string, unknown>)[key])) return false;
  }
  return true;
}

function walkValue(visit: Visit, path: string, value: unknown): boolean {
  return value === null || (visit(path, typeOf(value)) && walkInside(visit, path, value));
}

function walkInside(visit: Visit, path: string, value: unknown): boolean {
  if (Array.isArray(value)) return value.every((item) => walkInside(visit, `${path}[]`, item));
  return typeof value !== "object" || value === null || walkFields(visit, `${path}.`, value);
}

function note(schema: ObservedSchema, path: string, type: ValueTypeName): void {
  if (!isNews(schema, path, type)) return;
  const isNew = !schema.has(path);
  const characters = isNew ? charactersOf(schema) + path.length : 0;
  schema.set(path, isNew ? type : "mixed");
  if (isNew) extents.set(schema, { size: schema.size, characters });
}

function isNews(schema: ReadonlySchema, path: string, type: ValueTypeName): boolean {
  const known = schema.get(path);
  if (known !== undefined) return known !== type && known !== "mixed";
  return schema.size < pathsMax && hasRoom(schema, path);
}

function hasRoom(schema: ReadonlySchema, path: string): boolean {
  // Fewer paths cannot reach the limit.
  if ((schema.size + 1) * pathLengthMax <= charactersMax) return true;
  return charactersOf(schema) + path.length <= charactersMax;
}

// Cached, because each path of a full schema needs it. Valid by size, because paths are only added.
const extents = new WeakMap<ReadonlySchema, { size: number; characters: number }>();

/** The sum of the characters of all paths. */
function charactersOf(schema: ReadonlySchema): number {
  const known = extents.get(schema);
  if (known?.size === schema.size) return known.characters;
  let characters = 0;
  for (const path of schema.keys()) characters += path.length;
  extents.set(schema, { size: schema.size, characters });
  return characters;
}

function typeOf(value: unknown): ValueTypeName {
  if (Array.isArray(value)) return "array";
  switch (typeof value) {
    case "string":
      return isDateTime(value) ? "timestamp" : "string";
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    default:
      return "object";
  }
}

/** Whether a text is an ISO 8601 date-time, with or without an offset. */
function isDateTime(text: string): boolean {
  // A fast check first, because nearly all texts are no date-times.
  if (text.length < 16 || text[4] !== "-" || text[7] !== "-") return false;
  return parseDateTime(text) !== undefined || parseDateTime(`${text}Z`) !== undefined;
}
