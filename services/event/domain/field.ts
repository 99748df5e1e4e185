/** Fields of an event that it can be grouped by, or chosen by. */

/** A column, or the keys of a path within the properties. */
export type EventField = "source" | "currency" | { path: string[] };

const prefix = "properties.";
const pathLengthMax = 255;

/**
 * Reads `source`, `currency`, or `properties.` and the keys of a path joined by dots; a number among the keys is also an index of a list.
 * @returns undefined for anything else.
 */
export function parseField(text: string): EventField | undefined {
  if (text === "source" || text === "currency") return text;
  if (!text.startsWith(prefix) || text.length > prefix.length + pathLengthMax) return undefined;
  const path = text.slice(prefix.length).split(".");
  return path.includes("") ? undefined : { path };
}
