/** Dotted names: a few words of a-z and 0-9, such as `order.completed`. The one place that knows their form and which of them are taken. */
import type { FieldError } from "./errors.ts";
import { mismatch, quoteName } from "./wording.ts";

/** Words of a name. */
export const segmentsMax = 5;
const lengthMax = 200;
const pattern = /^[a-z0-9]+(?:\.[a-z0-9]+)*$/;
/** First words that are the platform's own. */
export const reservedNamespaces: ReadonlySet<string> = new Set(["sms", "profile"]);

/** What a dotted name is, with an example. */
export const dottedNameExpected =
  `a name in lowercase dot notation such as "order.completed": 1 to ${segmentsMax} words of a-z and 0-9 joined by "." or "_", ` +
  `at most ${lengthMax} characters`;

/**
 * Brings a name into normal form, `_` becoming `.`, or says what is wrong with it.
 * @param param the field that it stands in.
 */
export function normalizeDottedName(text: string, param: string): { name: string } | { error: FieldError } {
  // Length first: what is longer is not worth a copy.
  const name = text.length <= lengthMax ? text.replaceAll("_", ".") : "";
  const segments = pattern.test(name) ? name.split(".") : [];
  if (segments.length === 0 || segments.length > segmentsMax) {
    return { error: mismatch(param, dottedNameExpected, text, { code: "invalid_event_type", quoted: true }) };
  }
  const [namespace] = segments;
  if (namespace !== undefined && reservedNamespaces.has(namespace)) {
    const message = `${quoteName(param)} must not start with "${namespace}": names under "${namespace}." are reserved for the platform.`;
    return { error: { code: "reserved_event_type", message, param } };
  }
  return { name };
}
