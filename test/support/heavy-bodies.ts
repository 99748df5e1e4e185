/** Generates bodies that are as expensive as possible in one place, for every place of a schema or example. */
import type { JsonSchema } from "./openapi.ts";
import { marksOutOfOrder } from "./worst-requests.ts";

export interface HeavyBody {
  place: string;
  body: unknown;
}

// Enough that quadratic work, or work of keys times values, takes many seconds.
const marksMax = 120_000;
const longKeyMax = 150_000;
const valuesMax = 20_000;
const keysMax = 10_000;
const itemsMax = 2_000;
const depth = 900;
// Short enough to be processed, as often as it fits.
const shortMarks = marksOutOfOrder(30).repeat(30);
const shortTexts = 400;

const range = (count: number): number[] => [...Array(count).keys()];

// Created once, because each is used in hundreds of places.
const marks = marksOutOfOrder(marksMax);
const objects: Readonly<Record<string, object>> = {
  "many keys": Object.fromEntries(range(keysMax).map((index) => [`k${index}`, 1])),
  "a long key of many values": { ["\u0100".repeat(longKeyMax)]: Array(valuesMax).fill(0) },
  "marks as a key": { [marks]: marks },
  "deep nesting": JSON.parse(`{"a":`.repeat(depth) + "1" + "}".repeat(depth)) as object,
};

/**
 * All heavy bodies of an operation.
 * @param example a valid body; one place after the other becomes heavy.
 */
export function* heavyBodies(
  schema: JsonSchema,
  example: unknown,
  resolve: (schema: JsonSchema) => JsonSchema,
): Generator<HeavyBody> {
  for (const { place, heavy, kind } of heavyIn(schema, example, resolve))
    yield { place: `${place}: ${kind}`, body: heavy };
}

interface Heavy {
  place: string;
  kind: string;
  heavy: unknown;
}

function* heavyIn(schema: JsonSchema, value: unknown, resolve: (schema: JsonSchema) => JsonSchema): Generator<Heavy> {
  const found = resolve(schema);
  for (const choice of found.anyOf ?? []) {
    // Of alternative forms of an object, only the one that the example has.
    if (isObject(value) && found.anyOf?.some((one) => fits(resolve(one), value)) && !fits(resolve(choice), value))
      continue;
    yield* heavyIn(choice, value, resolve);
  }
  if (found.anyOf) return;
  const types = found.type === undefined ? [] : [found.type].flat();
  const isAny = types.length === 0 && found.const === undefined && found.enum === undefined;
  if (types.includes("string") || (isAny && typeof value === "string")) {
    yield { place: "", kind: "marks out of order", heavy: marks };
  }
  if (types.includes("array") || (isAny && Array.isArray(value))) {
    const [first] = Array.isArray(value) ? (value as unknown[]) : [];
    const item = first ?? "x";
    yield { place: "", kind: "many items", heavy: Array(itemsMax).fill(item) };
    for (const { place, kind, heavy } of heavyIn(found.items ?? {}, item, resolve)) {
      yield { place: `/0${place}`, kind, heavy: [heavy] };
      if (kind === "marks out of order") {
        const short = replace(heavy, shortMarks);
        yield { place: `/*${place}`, kind: "as many marks as are looked at", heavy: Array(shortTexts).fill(short) };
      }
    }
  }
  if (types.includes("object") || found.properties || (isAny && isObject(value))) {
    const given = isObject(value) ? value : {};
    for (const [kind, heavy] of Object.entries(objects)) yield { place: "", kind, heavy: { ...given, ...heavy } };
    for (const name of new Set([...Object.keys(found.properties ?? {}), ...Object.keys(given)])) {
      for (const { place, kind, heavy } of heavyIn(found.properties?.[name] ?? {}, given[name], resolve)) {
        yield { place: `/${name}${place}`, kind, heavy: { ...given, [name]: heavy } };
      }
    }
  }
}

/** Replaces the long text by a shorter one. */
function replace(value: unknown, text: string): unknown {
  if (typeof value === "string") return value.length > marksMax / 2 ? text : value;
  if (Array.isArray(value)) return value.map((item) => replace(item, text));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, replace(child, text)]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fits({ properties = {}, required = [] }: JsonSchema, value: Record<string, unknown>): boolean {
  return required.every((name) => name in value) && Object.keys(value).every((name) => name in properties);
}
