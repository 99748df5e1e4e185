/** Event types: lowercase dot notation, such as `order.completed`. */
import type { FieldError } from "#shared/errors.ts";

const segmentsMax = 5;
const lengthMax = 200;
const pattern = /^[a-z0-9]+(?:\.[a-z0-9]+)*$/;
const reservedNamespaces: ReadonlySet<string> = new Set(["sms", "profile"]);

/** Brings a type into normal form, `_` becoming `.`, or says what is wrong with it. */
export function normalizeEventType(text: string): { type: string } | { error: FieldError } {
  if (text === "") return { error: { code: "parameter_missing", message: "An event has a type.", param: "type" } };
  const type = text.replaceAll("_", ".");
  const segments = type.length <= lengthMax && pattern.test(type) ? type.split(".") : [];
  if (segments.length === 0 || segments.length > segmentsMax) {
    const message = `A type is 1 to ${segmentsMax} words of a-z and 0-9, joined by "." or "_", with at most ${lengthMax} characters.`;
    return { error: { code: "invalid_event_type", message, param: "type" } };
  }
  const [namespace] = segments;
  if (namespace !== undefined && reservedNamespaces.has(namespace)) {
    const message = `Types that start with "${namespace}" are the platform's own.`;
    return { error: { code: "reserved_event_type", message, param: "type" } };
  }
  return { type };
}
