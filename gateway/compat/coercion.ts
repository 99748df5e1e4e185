/**
 * What clients of weakly typed languages send: a number where a text is meant, such as the key of a table as external_id, and PHP's `[]` for an empty
 * object. Both are read as what they stand for, wherever the schema of a body leaves no doubt.
 */
import { isJsonObject, isRawNumber } from "#shared/json/json.ts";

/** A schema as far as it is looked at: as it stands in a document. */
interface Schema {
  type?: string;
  const?: unknown;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  items?: Schema;
}

/** The text of a number, with all its digits; undefined for anything else. */
export function numberText(value: unknown): string | undefined {
  return typeof value === "number" || isRawNumber(value) ? JSON.stringify(value) : undefined;
}

/** Reads a value so. What stands within it is changed in place, as nobody else has the body. @returns the value, or what stands for it. */
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
    // A caller's own keys only: `__proto__` is no field of any schema.
    if (Object.hasOwn(value, name)) value[name] = coerce(inner, value[name]) as (typeof value)[string];
  }
  return value;
}
