/** Dotted names: a few words of a-z and 0-9, such as `order.completed`. The one place that knows their form and which of them are taken. */
import type { FieldError } from "./errors.ts";

const segmentsMax = 5;
const lengthMax = 200;
const pattern = /^[a-z0-9]+(?:\.[a-z0-9]+)*$/;
const reservedNamespaces: ReadonlySet<string> = new Set(["sms", "profile"]);

/**
 * Brings a name into normal form, `_` becoming `.`, or says what is wrong with it.
 * @param param the field that it stands in, which also names it in messages.
 */
export function normalizeDottedName(text: string, param: string): { name: string } | { error: FieldError } {
  if (text === "") return { error: { code: "parameter_missing", message: `The ${param} is empty.`, param } };
  const name = text.replaceAll("_", ".");
  const segments = name.length <= lengthMax && pattern.test(name) ? name.split(".") : [];
  if (segments.length === 0 || segments.length > segmentsMax) {
    const message = `A ${param} is 1 to ${segmentsMax} words of a-z and 0-9, joined by "." or "_", with at most ${lengthMax} characters.`;
    return { error: { code: "invalid_event_type", message, param } };
  }
  const [namespace] = segments;
  if (namespace !== undefined && reservedNamespaces.has(namespace)) {
    const message = `A ${param} that starts with "${namespace}" is the platform's own.`;
    return { error: { code: "reserved_event_type", message, param } };
  }
  return { name };
}
