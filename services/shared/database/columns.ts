/** Rows as parameters of a statement: one array for each column, which `unnest` turns into rows. */
import type { Micros } from "../values/clock.ts";
import type { Uuid } from "../values/ids.ts";
import { formatMicros, type Instant } from "../values/time.ts";

/** The values of each column type. JSON is passed as text; jsonb also takes an object, which is written as JSON. */
interface ValueTypes {
  uuid: Uuid;
  text: string;
  smallint: number;
  integer: number;
  bigint: number;
  /** Decimal text. */
  numeric: string;
  boolean: boolean;
  timestamptz: Micros | Instant;
  bytea: Uint8Array;
  json: string;
  jsonb: string | object;
}

type Type = keyof ValueTypes;
type ValueOf<T> = T extends `${infer Nullable extends Type}?` ? ValueTypes[Nullable] | null : ValueTypes[T & Type];

/** The columns of rows that a statement takes. */
export interface Columns<Row> {
  /** The number of the next parameter after these. */
  readonly next: number;
  /** The rows as a table: `unnest($3::uuid[], $4::text[]) AS name (id, type)`. */
  as(name: string): string;
  /** One column as an array: `$3::uuid[]`. */
  array(column: keyof Row & string): string;
  /** The parameters: the text of an array for each column. */
  values: (rows: readonly Row[]) => string[];
}

/** The rows that columns describe. */
export type Rows<C> = C extends Columns<infer Row> ? readonly Row[] : never;

/**
 * Declares the columns of rows that a statement takes.
 * @param first the number of their first parameter: 3 for `$3`.
 * @param types the SQL type of each column by name, in order, with `?` where it may be null.
 */
export function columns<const Types extends Record<string, Type | `${Type}?`>>(
  first: number,
  types: Types,
): Columns<{ readonly [Name in keyof Types]: ValueOf<Types[Name]> }> {
  type Row = { readonly [Name in keyof Types]: ValueOf<Types[Name]> };
  const names = Object.keys(types);
  const arrays = Object.values(types).map((type, index) => `$${first + index}::${type.replace("?", "")}[]`);
  const writers = Object.entries(types).map(([name, type]) => {
    const write = writerOf(type.replace("?", "") as Type);
    return (row: Row): string => {
      const value = row[name];
      return value === null || value === undefined ? "NULL" : write(value);
    };
  });
  return {
    next: first + names.length,
    as: (name) => `unnest(${arrays.join(", ")}) AS ${name} (${names.join(", ")})`,
    array: (column) => arrays[names.indexOf(column)] as string,
    values: (rows) => writers.map((write) => `{${rows.map(write).join(",")}}`),
  };
}

/**
 * Writes an element of an array as PostgreSQL reads it. By hand, because pg quotes and escapes each element, which
 * takes three times as long for those that need neither.
 * Source: https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO
 */
function writerOf(type: Type): (value: ValueTypes[Type]) => string {
  switch (type) {
    case "timestamptz":
      return (time) => (typeof time === "number" ? formatMicros(time) : (time as Instant));
    case "bytea":
      return (bytes) => `"\\\\x${Buffer.from(bytes as Uint8Array).toString("hex")}"`;
    case "text":
    case "json":
      return (text) => quote(text as string);
    case "jsonb":
      return (json) => quote(typeof json === "string" ? json : JSON.stringify(json));
    default:
      return String;
  }
}

const special = /["\\]/;

function quote(text: string): string {
  return `"${special.test(text) ? text.replaceAll("\\", "\\\\").replaceAll('"', '\\"') : text}"`;
}
