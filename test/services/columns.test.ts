/** Rows that a statement takes are those that PostgreSQL gets, whatever is in them. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { columns, type Rows } from "#shared/database/columns.ts";
import { openDatabase, statement, type Database } from "#shared/database/postgres.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { newUuid } from "#shared/values/ids.ts";

const owner = new Owner();
let database: Database;

beforeAll(() => {
  const log = createLog("test", "fatal");
  database = openDatabase({ url: inject("databaseUrl"), applicationName: "columns-test", connectionsMax: 1, log });
  owner.defer(() => database.end());
});
afterAll(() => owner.close());

const all = columns(1, {
  id: "uuid",
  note: "text?",
  small: "smallint",
  at: "timestamptz?",
  is_on: "boolean",
  amount: "numeric",
  bytes: "bytea?",
  properties: "json",
  schema: "jsonb?",
});
const echo = statement<[rows: Rows<typeof all>], Record<string, unknown>>(
  "test.columns.echo",
  `SELECT r.id, r.note, r.small, r.at, r.is_on, r.amount::text, r.bytes, r.properties::text, r.schema
   FROM ${all.as("r")}`,
  all,
);

// What PostgreSQL cannot hold is refused before: U+0000 and lone surrogates.
const text = fc
  .oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.constantFrom("", "NULL", "null", "{}", "{", ",", '"', '\\"', "\\", "\\x00", " a ", "\n", "a,b", "'; --"),
  )
  .filter((value) => !value.includes("\0"));
const jsonText = fc.json({ maxDepth: 2, noUnicodeString: false }).filter((value) => !value.includes("\\u0000"));
const row = fc.record({
  id: fc.constant(undefined).map(() => newUuid()),
  note: fc.option(text),
  small: fc.integer({ min: -32_768, max: 32_767 }),
  at: fc.option(fc.integer({ min: 0, max: 8_000_000_000_000_000 })),
  is_on: fc.boolean(),
  amount: fc.constantFrom("0", "-12.50", "99999999999999999999.000000001"),
  bytes: fc.option(fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes))),
  properties: jsonText,
  schema: fc.option(fc.dictionary(fc.constantFrom("a", '"', "\\", "é"), text, { noNullPrototype: true })),
});

test("rows reach PostgreSQL as they are", async () => {
  const property = fc.asyncProperty(fc.array(row, { maxLength: 8 }), async (rows) => {
    expect(await echo(database, [rows])).toEqual(rows);
  });
  await fc.assert(property, { numRuns: 200 });
});
