/** Attributes that hold identifier values. Only keys that may see identifier values see them. */
import { parseJson, type JsonObject } from "#shared/json/json.ts";

/**
 * The compatibility surface stores a phone number that is not E.164 as `$phone_number`. The other names are identifiers
 * on the other platform, which its clients may have written as properties.
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

export function isHiddenAttribute(name: string): boolean {
  return names.has(name);
}

/** @param attributesJson a JSON object as it is stored. @returns it without hidden attributes. */
export function withoutHiddenAttributes(attributesJson: string): string {
  // Most profiles have none, so parsing is avoided.
  if (![...names].some((name) => attributesJson.includes(`"${name}"`))) return attributesJson;
  const attributes = parseJson(attributesJson) as JsonObject;
  return JSON.stringify(Object.fromEntries(Object.entries(attributes).filter(([name]) => !names.has(name))));
}
