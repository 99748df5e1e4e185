/** Fields of events that aggregates group by and choose by, and the texts that stand for them between the services. */
import { textProblem } from "../json/json.ts";

/** A column, or the keys of a path within the properties. */
export type EventField = "source" | "currency" | { path: string[] };

const prefix = "properties";
const pathLengthMax = 255;

/**
 * Reads `source`, `currency`, `properties.` and the keys of a path joined by dots, or `properties` and the keys as a JSON array.
 * @returns undefined for anything else.
 */
export function parseField(text: string): EventField | undefined {
  if (text === "source" || text === "currency") return text;
  if (!text.startsWith(prefix) || text.length > prefix.length + 1 + pathLengthMax) return undefined;
  const rest = text.slice(prefix.length);
  if (!rest.startsWith(".")) return parseKeys(rest);
  const path = rest.slice(1).split(".");
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

/** The text of a field that is given by its segments, such as `["properties", "a.b"]`: with dots where they are not ambiguous. */
export function fieldOfSegments([first = "", ...keys]: readonly string[]): string {
  if (keys.length === 0) return first;
  const isPlain = first !== prefix || keys.every((key) => key !== "" && !key.includes(".") && !key.endsWith("[]"));
  return isPlain ? [first, ...keys].join(".") : `${first}${JSON.stringify(keys)}`;
}
