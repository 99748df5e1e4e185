/** Dotted names such as `order.completed`. Only this file knows their form and the reserved names. */
import type { FieldError } from "./errors.ts";
import { mismatch, quoteName } from "./wording.ts";

export const segmentsMax = 5;
const lengthMax = 200;
const pattern = /^[a-z0-9]+(?:\.[a-z0-9]+)*$/;
/** First words that are reserved for the platform. */
export const reservedNamespaces: ReadonlySet<string> = new Set(["sms", "profile"]);

// Normal forms by text. Most events have one of a few types, and each is read by the gateway and by the event service.
const normalForms = new Map<string, { name: string }>();
const normalFormsMax = 1000;

/** The expected form, with an example, for messages. */
export const dottedNameExpected =
  `a name in lowercase dot notation such as "order.completed": 1 to ${segmentsMax} words of a-z and 0-9 ` +
  `joined by "." or "_", at most ${lengthMax} characters`;

/**
 * Normalises a name, `_` becoming `.`, or returns its fault.
 * @param param the name of the field.
 */
export function normalizeDottedName(text: string, param: string): { name: string } | { error: FieldError } {
  // Longer text is neither looked up nor copied.
  const isShort = text.length <= lengthMax;
  const known = isShort ? normalForms.get(text) : undefined;
  if (known) return known;
  const name = isShort ? text.replaceAll("_", ".") : "";
  const segments = pattern.test(name) ? name.split(".") : [];
  if (segments.length === 0 || segments.length > segmentsMax) {
    return { error: mismatch(param, dottedNameExpected, text, { code: "invalid_event_type", quoted: true }) };
  }
  const [namespace] = segments;
  if (namespace !== undefined && reservedNamespaces.has(namespace)) {
    const reason = `names under "${namespace}." are reserved for the platform`;
    const message = `${quoteName(param)} must not start with "${namespace}": ${reason}.`;
    return { error: { code: "reserved_event_type", message, param } };
  }
  const normal = { name };
  if (normalForms.size >= normalFormsMax) normalForms.clear();
  normalForms.set(text, normal);
  return normal;
}
