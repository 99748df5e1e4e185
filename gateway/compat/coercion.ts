/**
 * Coerces what clients in weakly typed languages send: a number for a string, such as a table key as external_id, and
 * PHP's `[]` for an empty object. Coercion happens only where the schema allows one reading.
 */
import { isJsonObject, isRawNumber } from "#shared/json/json.ts";

/** The parts of a JSON Schema that coercion reads. */
interface Schema {
  type?: string;
  const?: unknown;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  items?: Schema;
}

/** The text of a number with all its digits; undefined for other values. */
export function numberText(value: unknown): string | undefined {
  return typeof value === "number" || isRawNumber(value) ? JSON.stringify(value) : undefined;
}

/**
 * Coerces a value to a schema. Nested values change in place, because nobody else holds the body.
 * @returns the value or its replacement.
 */
export function coerce(schema: object, value: unknown): unknown {
  const { anyOf, ...only } = schema as Schema;
  const forms = anyOf ?? [only];
  const isOf = (type: string): boolean => forms.some((form) => form.type === type && form.const === undefined);
  const number = numberText(value);
  if (number !== undefined) return isOf("string") && !isOf("number") && !isOf("integer") ? number : value;
  if (Array.isArray(value)) {
    if (!isOf("array")) return value.length === 0 && isOf("object") ? {} : value;
    const { items } = forms.find(({ type }) => type === "array") ?? {};
    if (items) for (const [index, item] of value.entries()) value[index] = coerce(items, item);
    return value;
  }
  if (!isJsonObject(value)) return value;
  const { properties = {} } = forms.find(({ type }) => type === "object") ?? {};
  for (const [name, inner] of Object.entries(properties)) {
    // Own keys only, because a caller may send `__proto__`.
    if (Object.hasOwn(value, name)) value[name] = coerce(inner, value[name]) as (typeof value)[string];
  }
  return value;
}
