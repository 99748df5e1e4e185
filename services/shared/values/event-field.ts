/** Event fields that aggregates group and filter by, and their texts between the services. */
import { textProblem } from "../json/json.ts";

/** A column, or a path of keys within the properties. */
export type EventField = "source" | "currency" | { path: string[] };

const prefix = "properties";
const pathLengthMax = 255;

/**
 * Parses `source`, `currency`, `properties.` and keys joined by dots, or `properties` and the keys as a JSON array.
 * @returns undefined for anything else.
 */
export function parseField(text: string): EventField | undefined {
  if (text === "source" || text === "currency") return text;
  if (!text.startsWith(prefix) || text.length > prefix.length + 1 + pathLengthMax) return undefined;
  const suffix = text.slice(prefix.length);
  if (!suffix.startsWith(".")) return parseKeys(suffix);
  const path = suffix.slice(1).split(".");
  return path.includes("") ? undefined : { path };
}

function parseKeys(text: string): { path: string[] } | undefined {
  if (!text.startsWith("[")) return undefined;
  try {
    const keys = JSON.parse(text) as unknown[];
    const areKeys = keys.length > 0 && keys.every((key) => typeof key === "string" && textProblem(key) === undefined);
    return areKeys ? { path: keys as string[] } : undefined;
  } catch {
    return undefined;
  }
}

/** Formats a field given by segments such as `["properties", "a.b"]`: with dots unless they are ambiguous. */
export function fieldOfSegments([first = "", ...keys]: readonly string[]): string {
  if (keys.length === 0) return first;
  const isPlain = first !== prefix || keys.every((key) => key !== "" && !key.includes(".") && !key.endsWith("[]"));
  return isPlain ? [first, ...keys].join(".") : `${first}${JSON.stringify(keys)}`;
}
