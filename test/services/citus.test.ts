/** The tables that deploy/kubernetes/overlays/citus/distribute.sql spreads. */
import { readFile } from "node:fs/promises";
import { loadModule, parse } from "libpg-query";
import pg from "pg";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createDatabase } from "../support/database.ts";
import { migrateAll } from "../support/spread.ts";

const owner = new Owner();
let client: pg.Client;
let calls: { name: string; target: string }[];

beforeAll(async () => {
  await loadModule();
  const { url } = owner.own(await createDatabase(inject("databaseUrl")));
  await migrateAll(url);
  client = new pg.Client({ connectionString: url });
  await client.connect();
  owner.defer(() => client.end());
  const { stmts = [] } = await parse(await readFile("deploy/kubernetes/overlays/citus/distribute.sql", "utf8"));
  const texts = stmts.map((each) => JSON.stringify(each.stmt));
  // The name of the function and its first parameter, in each command but SET.
  calls = texts
    .filter((text) => !text.includes('"VariableSetStmt"'))
    .map((text) => {
      const name = /"funcname":\[\{"String":\{"sval":"(\w+)"/.exec(text)?.[1] ?? "";
      return { name, target: /"args":\[\{"A_Const":\{"sval":\{"sval":"([\w.]+)"/.exec(text)?.[1] ?? "" };
    });
});
afterAll(() => owner.close());

async function namesOf(sql: string): Promise<string[]> {
  return (await client.query<{ name: string }>(sql)).rows.map(({ name }) => name);
}

test("each table of the migrations is spread once, by property if it has one", async () => {
  const tables = await namesOf(
    `SELECT format('%s.%s', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname IN ('profile', 'event', 'metric', 'webhook') AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND c.relname <> 'migrations'`,
  );
  const withProperty = await namesOf(
    `SELECT format('%s.%s', n.nspname, c.relname) AS name
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE a.attname = 'property_id'`,
  );
  expect(tables.length).toBeGreaterThan(20);
  const wanted = tables.map((target) => ({
    name: withProperty.includes(target) ? "create_distributed_table" : "create_reference_table",
    target,
  }));
  const byTarget = (one: { target: string }, other: { target: string }): number => (one.target < other.target ? -1 : 1);
  expect(calls.toSorted(byTarget)).toEqual(
    [...wanted, { name: "citus_schema_distribute", target: "identity" }].toSorted(byTarget),
  );
});

test("a table is spread before those that reference it", async () => {
  const { rows } = await client.query<{ from: string; to: string }>(
    `SELECT conrelid::regclass::text AS from, confrelid::regclass::text AS to FROM pg_constraint
     WHERE contype = 'f' AND connamespace::regnamespace::text <> 'identity'`,
  );
  expect(rows.length).toBeGreaterThan(3);
  const order = calls.map(({ target }) => target);
  expect(rows.filter(({ from, to }) => order.indexOf(to) > order.indexOf(from))).toEqual([]);
});

test("each command leaves out what is spread already", async () => {
  const text = await readFile("deploy/kubernetes/overlays/citus/distribute.sql", "utf8");
  const commands = text.split(";").filter((command) => command.includes("SELECT "));
  expect(commands.length).toBe(calls.length);
  for (const [index, command] of commands.entries()) {
    expect(command).toMatch(/WHERE NOT EXISTS \(SELECT FROM (citus_schemas|pg_dist_partition) WHERE/);
    expect(command.split(`'${calls[index]?.target}'`).length).toBe(3);
  }
});
