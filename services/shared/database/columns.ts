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
  /** The parameters: an array for each column. */
  values: (rows: readonly Row[]) => unknown[][];
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
  const readers = Object.entries(types).map(([name, type]) =>
    type.startsWith("timestamptz")
      ? (row: Row): unknown => toInstant(row[name] as Micros | Instant | null)
      : (row: Row): unknown => row[name],
  );
  return {
    next: first + names.length,
    as: (name) => `unnest(${arrays.join(", ")}) AS ${name} (${names.join(", ")})`,
    array: (column) => arrays[names.indexOf(column)] as string,
    values: (rows) => readers.map((read) => rows.map(read)),
  };
}

function toInstant(time: Micros | Instant | null): Instant | null {
  return typeof time === "number" ? formatMicros(time) : time;
}
