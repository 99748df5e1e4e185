/** What was observed of attributes and of event types, in one form. */
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { type Metric, ValueType } from "#proto/daybook/metric/v1/metric_pb.ts";

export const typeNames = ["string", "number", "boolean", "timestamp", "array", "object", "mixed"] as const;
export type TypeName = (typeof typeNames)[number];

export interface ObservedPath {
  path: string;
  type: TypeName;
}

export interface Schema {
  /** `profile`, or the id of the metric. */
  id: string;
  /** The event type; absent for attributes. */
  eventType?: string;
  /** When the first event of the type came. */
  since?: Timestamp | undefined;
  last?: Timestamp | undefined;
  paths: readonly ObservedPath[];
}

const nameOf: Record<ValueType, TypeName> = {
  [ValueType.UNSPECIFIED]: "mixed",
  [ValueType.STRING]: "string",
  [ValueType.NUMBER]: "number",
  [ValueType.BOOLEAN]: "boolean",
  [ValueType.TIMESTAMP]: "timestamp",
  [ValueType.ARRAY]: "array",
  [ValueType.OBJECT]: "object",
  [ValueType.MIXED]: "mixed",
};

/** A path that was seen with two types or more. */
export const isConflict = ({ type }: ObservedPath): boolean => type === "mixed";

export function schemaOfMetric({ id, name, schema, firstSeenAt, lastReceivedAt }: Metric): Schema {
  const paths = schema.map(({ path, type }) => ({ path, type: nameOf[type] ?? "mixed" }));
  return { id, eventType: name, since: firstSeenAt, last: lastReceivedAt, paths };
}

/** @param json the text of an object: path → type. */
export function schemaOfAttributes(json: string): Schema {
  const object = JSON.parse(json) as Record<string, TypeName>;
  return { id: "profile", paths: Object.entries<TypeName>(object).map(([path, type]) => ({ path, type })) };
}

/**
 * The types that a path has in one object, as Daybook names them: `items[].sku` goes through lists, and a key with dots
 * is the same path as nested keys. Empty when the object does not have it.
 */
export function typesAt(object: object, path: string): ReadonlySet<TypeName> {
  const found = new Set<TypeName>();
  visitFields(object, "", path, found);
  return found;
}

function visitFields(object: object, prefix: string, path: string, found: Set<TypeName>): void {
  for (const [key, value] of Object.entries(object) as [string, unknown][]) {
    const at = prefix + key;
    if (value === null || !path.startsWith(at)) continue;
    if (at === path) found.add(typeOf(value));
    else visitInside(value, at, path, found);
  }
}

function visitInside(value: unknown, at: string, path: string, found: Set<TypeName>): void {
  if (Array.isArray(value)) for (const item of value) visitInside(item, `${at}[]`, path, found);
  else if (typeof value === "object" && value !== null) visitFields(value, `${at}.`, path, found);
}

function typeOf(value: unknown): TypeName {
  if (Array.isArray(value)) return "array";
  if (typeof value === "string") return isDateTime(value) ? "timestamp" : "string";
  if (typeof value === "number") return "number";
  return typeof value === "boolean" ? "boolean" : "object";
}

const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?$/i;
const isDateTime = (text: string): boolean => dateTime.test(text) && !Number.isNaN(Date.parse(text));
