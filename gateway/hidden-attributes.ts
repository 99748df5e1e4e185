/** Attributes that hold what is else an identifier: they are shown to those who may see the values of identifiers, and to nobody else. */
import { parseJson, type JsonObject } from "#shared/json/json.ts";

/**
 * Their names. The compatibility surface keeps a phone number that is not E.164 under the first; the others are the names that clients of the other
 * platform give to identifiers, and may have written as properties.
 */
const names: ReadonlySet<string> = new Set([
  "$phone_number",
  "$email",
  "$id",
  "$external_id",
  "$anonymous_id",
  "$exchange_id",
  "$kx",
  "_kx",
]);

/** Whether an attribute is shown only to those who may see the values of identifiers. */
export function isHiddenAttribute(name: string): boolean {
  return names.has(name);
}

/** The text of attributes without those that are hidden. @param attributesJson the text of a JSON object, as it is stored. */
export function withoutHiddenAttributes(attributesJson: string): string {
  // Most have none of them, and are not worth reading.
  if (![...names].some((name) => attributesJson.includes(`"${name}"`))) return attributesJson;
  const attributes = parseJson(attributesJson) as JsonObject;
  return JSON.stringify(Object.fromEntries(Object.entries(attributes).filter(([name]) => !names.has(name))));
}
