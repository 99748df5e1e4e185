/** Conditions of a filter, and the fields that events are grouped and filtered by. */
import { type Metric, ValueType } from "#proto/daybook/metric/v1/metric_pb.ts";
import type { Reader } from "../../data/search.ts";

/** The field equals the value. */
export interface Condition {
  field: string;
  /** The JSON text of a scalar, exact. */
  valueJson: string;
}

export const conditionsMax = 10;
// Percent signs make an address three to nine times as long, and servers refuse very long ones.
const addressMax = 6000;

/** Conditions in the URL: a JSON list of field and JSON text by turns. */
export const conditionsText: Reader<string> = (given) => (readConditions(given).length > 0 ? given : undefined);

export function readConditions(given: string | undefined): readonly Condition[] {
  if (given === undefined) return [];
  try {
    const list = JSON.parse(given) as unknown;
    if (!Array.isArray(list) || list.length % 2 !== 0 || !list.every((part) => typeof part === "string")) return [];
    const parts = list;
    const read = Array.from({ length: parts.length / 2 }, (_, index) => ({
      field: parts[2 * index] ?? "",
      valueJson: parts[2 * index + 1] ?? "",
    }));
    return read.length <= conditionsMax && read.every(isCondition) ? read : [];
  } catch {
    return [];
  }
}

/** The text for the URL; undefined for none. */
export function conditionsIn(conditions: readonly Condition[]): string | undefined {
  if (conditions.length === 0) return undefined;
  return JSON.stringify(conditions.flatMap(({ field, valueJson }) => [field, valueJson]));
}

/** Whether the conditions fit into an address. */
export function fits(conditions: readonly Condition[]): boolean {
  return encodeURIComponent(conditionsIn(conditions) ?? "").length <= addressMax;
}

function isCondition({ field, valueJson }: Condition): boolean {
  const value = JSON.parse(valueJson) as unknown;
  return isField(field) && (value === null || typeof value !== "object");
}

/** `source`, `currency`, `properties.` and a path, or `properties` and keys as a JSON list. */
export function isField(text: string): boolean {
  if (text === "source" || text === "currency") return true;
  if (/^properties\.[^.]+(?:\.[^.]+)*$/.test(text)) return true;
  if (!text.startsWith("properties[")) return false;
  try {
    const keys = JSON.parse(text.slice("properties".length)) as unknown;
    return Array.isArray(keys) && keys.length > 0 && keys.every((key) => typeof key === "string");
  } catch {
    return false;
  }
}

/** A field in the URL. */
export const fieldText: Reader<string> = (given) => (isField(given) ? given : undefined);

export interface FieldOption {
  value: string;
  title: string;
  type: ValueType;
}

/** The fields of a metric by which events can be grouped: not lists and objects, and nothing within a list. */
export function fieldsOf(metric: Metric | undefined): readonly FieldOption[] {
  const types = new Map(metric?.schema.map(({ path, type }) => [path, type]));
  const paths = [...types].filter(
    ([path, type]) => !path.includes("[]") && type !== ValueType.ARRAY && type !== ValueType.OBJECT,
  );
  return [
    { value: "source", title: "source", type: ValueType.STRING },
    { value: "currency", title: "currency", type: ValueType.STRING },
    ...paths.map(([path, type]) => ({ value: fieldOfPath(path, types), title: `properties.${path}`, type })),
  ];
}

/** A path whose parents were not seen as objects is one key with dots in its name. */
function fieldOfPath(path: string, types: ReadonlyMap<string, ValueType>): string {
  const keys = path.split(".");
  const parents = keys.slice(1).map((_, index) => keys.slice(0, index + 1).join("."));
  const isNested = parents.every((parent) => types.has(parent)) && !keys.includes("");
  return isNested ? `properties.${path}` : `properties${JSON.stringify([path])}`;
}

/** A JSON value in words: text without quotes, null as `none`. */
export function valueTitle(valueJson: string): string {
  if (valueJson === "null") return "none";
  return valueJson.startsWith('"') ? (JSON.parse(valueJson) as string) : valueJson;
}
