/** The cost of each index of events for recording, and the cost of its list without it. */
import { propertyId } from "../contestants/baseline.ts";
import { copyContestant } from "../contestants/copy.ts";
import { createEventTable } from "../support/database.ts";
import { makeEvents } from "../support/events.ts";
import { compare, type Contestant } from "../support/rounds.ts";
import { median } from "../support/stats.ts";
import type { Suite, SuiteContext } from "./suite.ts";

const connections = 2;
const batchItems = 1000;
const batchesMax = 20;
const looks = 5;

// The condition of each list's index, then that of the list.
const page = "ORDER BY occurred_at DESC, id DESC LIMIT 51";
const lists: Record<string, string> = {
  events_occurred: `occurred_at > '-infinity' ${page}`,
  events_received: "received_at > '-infinity' ORDER BY received_at DESC, id DESC LIMIT 51",
  events_type: `type = 'order.refunded' AND occurred_at > '-infinity' ${page}`,
  events_source: `source = 'system' AND source <> 'api' ${page}`,
  events_profile: `profile_id = md5('person7919@example.com')::uuid ${page}`,
  events_identifier: "identifier_type = 'card' AND identifier_value = 'none' LIMIT 51",
};

/** COPY into a table with all indexes, and into tables that each lack one. */
export const indexes: Suite = async (context) => {
  const { database, signal } = context;
  const events = makeEvents(batchItems * batchesMax);
  const groups = Array.from({ length: batchesMax }, (_, batch) =>
    events.slice(batch * batchItems, (batch + 1) * batchItems),
  );
  const names = Object.keys(lists);
  const tables = new Map<string, string>();
  const contestants: Contestant[] = [];
  for (const name of ["", ...names]) {
    const table = await createEventTable(database.pool, `indexes_${name || "all"}`);
    if (name !== "") await dropIndexLike(database, table, name);
    tables.set(name, table);
    const copy = copyContestant(database, table, groups, connections, signal);
    contestants.push({ ...copy, name: name === "" ? "all indexes" : `without ${name}` });
  }
  const samples = await compare(contestants, context);
  const notes: string[] = [];
  for (const name of names) {
    const query = `property_id = '${propertyId}' AND ${lists[name]}`;
    const [withIt, withoutIt] = [
      await measureQueryMs(database, tables.get("") ?? "", query),
      await measureQueryMs(database, tables.get(name) ?? "", query),
    ];
    notes.push(`The list of ${name} takes ${withIt.toFixed(2)} ms with it and ${withoutIt.toFixed(2)} ms without.`);
  }
  for (const table of tables.values()) await database.pool.query(`DROP TABLE ${table}`);
  return { title: "What indexes of events cost", unit: "rows", samples, notes };
};

/** Drops the index with the definition of this index of event.events. */
async function dropIndexLike({ pool }: SuiteContext["database"], table: string, name: string): Promise<void> {
  const { rows } = await pool.query<{ index: string }>(
    `SELECT i.indexrelid::regclass::text AS index FROM pg_index i
     WHERE i.indrelid = $1::regclass
       AND regexp_replace(pg_get_indexdef(i.indexrelid), '^.* USING ', '') = regexp_replace(pg_get_indexdef(('event.' || $2)::regclass), '^.* USING ', '')`,
    [table, name],
  );
  if (rows.length !== 1) throw new Error(`${table} has no index such as ${name}`);
  await pool.query(`DROP INDEX ${rows[0]?.index}`);
}

/** Duration of a query, in milliseconds. */
async function measureQueryMs({ pool }: SuiteContext["database"], table: string, condition: string): Promise<number> {
  await pool.query(`ANALYZE ${table}`);
  const times: number[] = [];
  for (let turn = 0; turn < looks; turn++) {
    const startMs = performance.now();
    await pool.query(`SELECT * FROM ${table} WHERE ${condition}`);
    times.push(performance.now() - startMs);
  }
  return median(times);
}
