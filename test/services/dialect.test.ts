/** Statements keep to the SQL that runs on every spread of PostgreSQL: services/shared/database/README.md. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { loadModule } from "libpg-query";
import pg from "pg";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { newUuid } from "#shared/values/ids.ts";
import { createDatabase } from "../support/database.ts";
import { faultsOf, migrationFaultsOf, readCatalog, type Catalog } from "../support/dialect.ts";
import { openSpread, remaindersOf } from "../support/spread.ts";
import { allStatements, manyProperties, oneServerOnly } from "../support/statements.ts";

const owner = new Owner();
let client: pg.Client;
let catalog: Catalog;
let statements: Map<string, string>;

beforeAll(async () => {
  await loadModule();
  const { url } = owner.own(await createDatabase(inject("databaseUrl")));
  const spread = await openSpread(url, owner);
  ({ client } = spread);
  catalog = await readCatalog(client, spread.tables);
  statements = await allStatements();
});
afterAll(() => owner.close());

test("no statement has a construct that Citus refuses or gets wrong", () => {
  expect(statements.size).toBeGreaterThan(300);
  const faults = [...statements]
    .filter(([name]) => !oneServerOnly.includes(name))
    .flatMap(([name, text]) => faultsOf(text, catalog).constructs.map((fault) => `${name}: ${fault}`));
  expect(faults).toEqual([]);
});

test("a statement gives property_id to each of its tables, except those on the list", () => {
  const unscoped = [...statements].filter(([, text]) => faultsOf(text, catalog).unscoped.length > 0);
  expect(unscoped.map(([name]) => name).toSorted()).toEqual(Object.values(manyProperties).flat().toSorted());
});

test("a statement that is not on the list touches the partitions of one remainder", async () => {
  await client.query("SET plan_cache_mode = force_custom_plan");
  const allowed = new Set(Object.values(manyProperties).flat());
  const faults: string[] = [];
  expect(await explain(statements.get("event.outbox: count") ?? "")).toEqual(new Set(["0", "1", "2", "3"]));
  for (const [name, text] of statements) {
    if (allowed.has(name) || name.startsWith("identity/") || text.startsWith("SET ")) continue;
    const remainders = await explain(text);
    if (remainders.size > 1) faults.push(`${name}: ${[...remainders].join(", ")}`);
  }
  expect(faults).toEqual([]);
});

const property = newUuid();

/** Explains a statement with a value of the right type for each parameter. */
async function explain(text: string): Promise<Set<string>> {
  await client.query(`PREPARE explained AS ${text}`);
  const { rows } = await client.query<{ types: string[] }>(
    "SELECT parameter_types::text[] AS types FROM pg_prepared_statements WHERE name = 'explained'",
  );
  const values = (rows[0]?.types ?? []).map((type) => valueOf(type));
  const remainders = await remaindersOf(
    client,
    `EXECUTE explained ${values.length > 0 ? `(${values.join(", ")})` : ""}`,
  );
  await client.query("DEALLOCATE explained");
  return remainders;
}

function valueOf(type: string): string {
  if (type.endsWith("[]")) return `ARRAY[${valueOf(type.slice(0, -2))}]::${type}`;
  const values: Record<string, string> = { uuid: property, boolean: "true", bytea: "\\x00", json: "{}", jsonb: "{}" };
  const isInstant = type.startsWith("timestamp") || type === "date";
  return `'${values[type] ?? (isInstant ? "2026-11-20T00:00:00Z" : "1")}'::${type}`;
}

test.each([
  ["UPDATE t.t SET at = clock_timestamp() WHERE property_id = $1", "VOLATILE function in UPDATE: clock_timestamp"],
  [
    "UPDATE t.t SET at = CASE WHEN n = 1 THEN now() END WHERE property_id = $1",
    "a function that is not IMMUTABLE in CASE or COALESCE of an UPDATE",
  ],
  [
    "UPDATE t.t SET at = coalesce(at, CURRENT_TIMESTAMP) WHERE property_id = $1",
    "a function that is not IMMUTABLE in CASE or COALESCE of an UPDATE",
  ],
  [
    "UPDATE t.t SET at = now() + n * interval '1 second' WHERE property_id = $1",
    "a STABLE function calculates with a column in UPDATE",
  ],
  ["DELETE FROM t.t WHERE ctid = ANY(ARRAY(SELECT ctid FROM t.t WHERE property_id = $1))", "ctid without property_id"],
  ["UPDATE t.t SET n = ($2::integer[])[n] WHERE property_id = $1", "array subscript in SET"],
  [
    `INSERT INTO t.t (property_id, n) SELECT $1, n FROM unnest($2::integer[]) AS w (n)
     ON CONFLICT (property_id) DO UPDATE SET n = $3`,
    "parameter in ON CONFLICT of INSERT … SELECT",
  ],
  [
    "INSERT INTO t.t (property_id) VALUES ($1) RETURNING (SELECT n FROM t.t WHERE property_id = $1)",
    "sub-select in RETURNING of an INSERT",
  ],
  ["SELECT CASE n WHEN 1 THEN 2 END FROM t.t WHERE property_id = $1", "CASE x WHEN"],
  ["INSERT INTO t.t (property_id, n) SELECT $1, unnest($2::integer[])", "INSERT … SELECT without RETURNING"],
  ["SELECT n FROM t.t WHERE n = $1 FOR UPDATE", "FOR UPDATE without property_id"],
  [
    "WITH RECURSIVE w AS (SELECT 1 AS n UNION ALL SELECT t.n FROM w JOIN t.t ON t.n = w.n) SELECT FROM w",
    "WITH RECURSIVE without property_id",
  ],
  [
    "SELECT n FROM t.t WHERE property_id = $1; SELECT n FROM t.t WHERE property_id = $1",
    "several commands in one query",
  ],
  ["SELECT FROM t.t a JOIN t.t b ON b.property_id = $2 WHERE a.property_id = $1", "several properties"],
])("the rules find the fault of %s", (text, fault) => {
  const { constructs } = faultsOf(text, { ...catalog, tables: new Set(["t.t"]) });
  expect(constructs).toEqual([fault]);
});

test.each([
  "SELECT FROM t.t",
  "SELECT FROM t.t WHERE property_id = $1 OR n = 1",
  "SELECT FROM t.t WHERE property_id <> $1",
  "SELECT FROM t.t a CROSS JOIN t.t b WHERE a.property_id = $1",
  "SELECT FROM t.t a CROSS JOIN t.t b WHERE a.property_id = $1 AND b.property_id = a.property_id",
  "SELECT FROM t.t WHERE property_id = $1 AND EXISTS (SELECT FROM t.t)",
  "SELECT FROM t.t WHERE property_id = $1 UNION ALL SELECT FROM t.t",
  "WITH w AS (DELETE FROM t.t RETURNING n) SELECT FROM w",
  "UPDATE t.t SET n = 1 FROM t.t AS u WHERE u.property_id = $1",
  "INSERT INTO t.t (n) VALUES ($1)",
  "INSERT INTO t.t (n, property_id) VALUES ($1, gen_random_uuid())",
  "INSERT INTO t.t (property_id) SELECT property_id FROM unnest($1::uuid[]) AS w (property_id) RETURNING true",
])("the rules find a table without property_id in %s", (text) => {
  expect(faultsOf(text, { ...catalog, tables: new Set(["t.t"]) }).unscoped).toEqual(["t.t"]);
});

test("migrations after the first change tables that are spread already", async () => {
  const faults: string[] = [];
  for (const service of ["identity", "profile", "event", "metric", "webhook"]) {
    const folder = join("services", service, "migrations");
    for (const file of (await readdir(folder)).filter((name) => name > "0002")) {
      faults.push(...migrationFaultsOf(await readFile(join(folder, file), "utf8")).map((fault) => `${file}: ${fault}`));
    }
  }
  expect(faults).toEqual([]);
});

test.each([
  ["ALTER TABLE t.t ADD a integer, ADD b integer", ["several changes in one ALTER TABLE"]],
  ["ALTER TABLE t.t ALTER n SET STORAGE EXTERNAL", ["SET STORAGE"]],
  ["ALTER TABLE t.t ADD a integer CHECK (a > 0)", ["a constraint within ADD COLUMN"]],
  ["ALTER TABLE t.t ADD CHECK (n > 0)", ["a constraint without a name"]],
  ["ALTER TABLE t.t ADD CONSTRAINT t_n CHECK (n > 0); ALTER TABLE t.t ADD a integer NOT NULL DEFAULT 0", []],
])("the rules of migrations judge %s", (text, faults) => {
  expect(migrationFaultsOf(text)).toEqual(faults);
});
