/**
 * A database whose tables are spread by property_id, as a stand-in for servers that the tests cannot start, such as
 * Citus: each table has four partitions by the hash of property_id, and a statement of one property may touch those of
 * one remainder only.
 */
import pg from "pg";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { createLocalBus } from "#shared/bus/local.ts";
import { migrate } from "#shared/database/migrate.ts";
import { openDatabase } from "#shared/database/postgres.ts";
import { createReads } from "#shared/database/reads.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { systemClock } from "#shared/values/clock.ts";
import { createPartitions } from "../../services/event/maintenance.ts";

/** How many partitions each table has. */
export const partitions = 4;
const schemas = ["identity", "profile", "event", "metric", "webhook"];

/** Migrates all schemas of a database, and creates the partitions of events. */
export async function migrateAll(url: string): Promise<void> {
  const log = createLog("test", "silent");
  const database = openDatabase({ url, applicationName: "test", connectionsMax: 2, log });
  try {
    for (const schema of schemas) await migrate(database, schema, `services/${schema}/migrations`);
    const [bus, reads] = [createLocalBus(log), createReads(database, log)];
    await createPartitions({ database, reads, bus, clock: systemClock, log, registry: createRegistry() });
  } finally {
    await database.end();
  }
}

interface Table {
  name: string;
  /** Of a partition of events by month: what it holds. */
  bounds: string | null;
}

/**
 * Spreads the empty tables of a migrated database. Those of identity stay whole: a key is found by its hash before its
 * property is known, so that schema lives on one server. A month of events gets partitions of its own.
 * @returns the names of the tables that were spread, without the months.
 */
async function spreadByProperty(client: pg.Client): Promise<string[]> {
  const { rows: tables } = await client.query<Table>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name, pg_get_expr(c.relpartbound, c.oid) AS bounds
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = ANY($1) AND n.nspname <> 'identity' AND c.relkind = 'r'
       AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'property_id')`,
    [schemas],
  );
  const { rows: keys } = await client.query<{ add: string; drop: string }>(
    `SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS add,
            format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS drop
     FROM pg_constraint WHERE contype = 'f' AND connamespace::regnamespace::text <> 'identity'`,
  );
  for (const { drop } of keys) await client.query(drop);
  for (const { name, bounds } of tables) await spread(client, name, bounds);
  for (const { add } of keys) await client.query(add);
  return [...tables.filter(({ bounds }) => bounds === null).map(({ name }) => name), "event.events"];
}

async function spread(client: pg.Client, name: string, bounds: string | null): Promise<void> {
  const old = `${name.split(".")[1]}_whole`;
  if (bounds !== null) await client.query(`ALTER TABLE event.events DETACH PARTITION ${name}`);
  await client.query(`ALTER TABLE ${name} RENAME TO ${old}`);
  const whole = `${name.split(".")[0]}.${old}`;
  await client.query(`CREATE TABLE ${name} (LIKE ${whole} INCLUDING ALL) PARTITION BY HASH (property_id)`);
  for (let remainder = 0; remainder < partitions; remainder++) {
    await client.query(
      `CREATE TABLE ${name}_part${remainder} PARTITION OF ${name}
       FOR VALUES WITH (MODULUS ${partitions}, REMAINDER ${remainder})`,
    );
  }
  await client.query(`DROP TABLE ${whole}`);
  if (bounds !== null) await client.query(`ALTER TABLE event.events ATTACH PARTITION ${name} ${bounds}`);
}

/** Migrates an empty database and spreads its tables. */
export async function spreadDatabase(url: string): Promise<void> {
  const owner = new Owner();
  await openSpread(url, owner);
  await owner.close();
}

/** The same, and stays connected; `owner` closes the connection. */
export async function openSpread(url: string, owner: Owner): Promise<{ client: pg.Client; tables: string[] }> {
  await migrateAll(url);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  owner.defer(() => client.end());
  return { client, tables: await spreadByProperty(client) };
}

interface PlanNode {
  "Relation Name"?: string;
  Plans?: PlanNode[];
}

/**
 * The remainders of the partitions that the plan of a statement touches. The plan knows the values, so that partitions
 * without rows of the property are not in it. Where a row is inserted is not in a plan.
 */
export async function remaindersOf(client: pg.Client, explained: string): Promise<Set<string>> {
  const { rows } = await client.query(`EXPLAIN (FORMAT JSON) ${explained}`);
  const found = new Set<string>();
  const see = (node: PlanNode): void => {
    const [, remainder] = /_part(\d)$/.exec(node["Relation Name"] ?? "") ?? [];
    if (remainder !== undefined) found.add(remainder);
    for (const child of node.Plans ?? []) see(child);
  };
  see(rows[0]["QUERY PLAN"][0].Plan as PlanNode);
  return found;
}
