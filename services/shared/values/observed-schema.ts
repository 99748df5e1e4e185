/** What JSON objects of one kind were seen to be: which paths they have, and what is found there. */
import { parseDateTime } from "./time.ts";

/** What is found at a path. A closed set. */
export type ValueTypeName = "string" | "number" | "boolean" | "timestamp" | "array" | "object" | "mixed";

/** Path to type. A Map, so that a key named __proto__ is one like any other. */
export type ObservedSchema = Map<string, ValueTypeName>;
type ReadonlySchema = ReadonlyMap<string, ValueTypeName>;

/** Paths that are kept of one kind; further ones are passed over. */
export const pathsMax = 500;
/** Longer paths are passed over, and what lies below them. */
const pathLengthMax = 255;
/** Of all paths of one kind together. */
const charactersMax = 32 * 1024;
/** Values of one object that are looked at, the first of them: more than 500 paths and some lists of things need. */
const visitsMax = 5_000;

/**
 * Adds what one object shows. Objects within it give `a` and `a.b`, lists `items` and `items[].sku`; null teaches nothing; a path found
 * with two types is mixed.
 */
export function observe(schema: ObservedSchema, object: object): void {
  walk(object, (path, type) => note(schema, path, type));
}

/** Visits the paths of an object, some of them more than once, until it has seen enough values. */
export function walk(object: object, visit: (path: string, type: ValueTypeName) => void): void {
  let visits = 0;
  const limited: Visit = (path, type) => {
    visit(path, type);
    return ++visits < visitsMax;
  };
  walkFields(limited, "", object);
}

/** @returns whether to go on. */
type Visit = (path: string, type: ValueTypeName) => boolean;

/** Adds what another schema shows. The order in which schemas are added does not matter, but for the limit on paths. */
export function mergeSchema(schema: ObservedSchema, other: ReadonlySchema): void {
  for (const [path, type] of other) note(schema, path, type);
}

/** Whether mergeSchema would change a schema. */
export function teaches(schema: ReadonlySchema, other: ReadonlySchema): boolean {
  return [...other].some(([path, type]) => isNews(schema, path, type));
}

function walkFields(visit: Visit, prefix: string, fields: object): boolean {
  // Without a list of all keys, of which there may be far more than are looked at.
  for (const key in fields) {
    // Looked at before the two are joined: below a key of 100,000 characters may stand 10,000 others.
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
  // Fewer paths than this cannot fill it.
  if ((schema.size + 1) * pathLengthMax <= charactersMax) return true;
  return charactersOf(schema) + path.length <= charactersMax;
}

// Remembered, because it is asked for each path of an object that has no room any more. Paths are only ever added.
const extents = new WeakMap<ReadonlySchema, { size: number; characters: number }>();

/** Characters of all paths together. */
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

/** An ISO 8601 date-time, with or without an offset. */
function isDateTime(text: string): boolean {
  // A quick look first: nearly all texts are none.
  if (text.length < 16 || text[4] !== "-" || text[7] !== "-") return false;
  return parseDateTime(text) !== undefined || parseDateTime(`${text}Z`) !== undefined;
}
