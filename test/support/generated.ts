/** Generates values that match a schema, and values broken in every place. */
import fc from "fast-check";
import type { JsonSchema } from "./openapi.ts";

// Small, because more takes longer and covers no further branch.
const itemsMax = 3;
const textLengthMax = 40;

/**
 * Values that match a schema.
 * @param resolve resolves references.
 * @param words texts with a meaning for the service, mixed with others.
 */
export function valuesOf(
  schema: JsonSchema,
  resolve: (schema: JsonSchema) => JsonSchema,
  words: readonly string[],
): fc.Arbitrary<unknown> {
  const of = (one: JsonSchema): fc.Arbitrary<unknown> => valuesOf(one, resolve, words);
  const found = resolve(schema);
  if (found.const !== undefined) return fc.constant(found.const);
  if (found.enum) return fc.constantFrom(...found.enum);
  if (found.anyOf) return fc.oneof(...found.anyOf.map(of));
  if (found.type === "string") return textsOf(found, words);
  if (found.type === "boolean") return fc.boolean();
  if (found.type === "null") return fc.constant(null);
  if (found.type === "integer") return fc.integer({ min: found.minimum ?? 0, max: found.maximum ?? 1_000_000 });
  if (found.type === "array") {
    return fc.array(of(found.items ?? {}), { minLength: found.minItems ?? 0, maxLength: itemsMax });
  }
  if (found.type === "object") return objectsOf(found, of);
  return fc.jsonValue({ maxDepth: 2 });
}

function textsOf({ pattern, minLength = 0, maxLength = textLengthMax }: JsonSchema, words: readonly string[]) {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  const known = words.filter(({ length }) => length >= minLength && length <= maxLength);
  const any = fc.string({ unit: "grapheme", minLength, maxLength: Math.min(maxLength, textLengthMax) });
  return known.length > 0 ? fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...known) }, any) : any;
}

function objectsOf(
  { properties = {}, required = [], additionalProperties, minProperties = 0 }: JsonSchema,
  of: (schema: JsonSchema) => fc.Arbitrary<unknown>,
): fc.Arbitrary<object> {
  const named = fc.record(Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, of(schema)])), {
    requiredKeys: required,
  });
  if (additionalProperties === false) return named.filter((value) => Object.keys(value).length >= minProperties);
  const others = of(additionalProperties === true || additionalProperties === undefined ? {} : additionalProperties);
  const keys = fc.oneof(fc.constantFrom("a", "email", "__proto__", "constructor"), fc.string({ maxLength: 8 }));
  const free = fc.dictionary(keys, others, { minKeys: minProperties, maxKeys: itemsMax });
  return fc.tuple(free, named).map(([some, more]) => ({ ...some, ...more }));
}

const wrongValues = [null, true, 1e300, "", "\u0000", "\ud800", "x".repeat(10_000), [], { x: 1 }];

/** A value broken in each place: replaced, removed, or with an extra field. */
export function* breakages(value: unknown): Generator {
  yield* wrongValues;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield value.toSpliced(index, 1);
      for (const broken of breakages(item)) yield value.with(index, broken);
    }
  } else if (typeof value === "object" && value !== null) {
    yield { ...value, no_such_field: 1 };
    for (const [key, child] of Object.entries(value)) {
      const { [key]: _removed, ...rest } = value as Record<string, unknown>;
      yield rest;
      for (const broken of breakages(child)) yield { ...value, [key]: broken };
    }
  }
}
