/** Days of events in the test property, and their roll-ups, each created once for all suites. */
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { encodeId, type Uuid } from "#shared/values/ids.ts";
import { dataFolder } from "../contestants/daybook.ts";
import type { BenchDatabase } from "./database.ts";
import type { SuiteContext } from "../suites/suite.ts";

export interface History {
  type: string;
  events: number;
  days: number;
  /** ISO 8601 */
  from: string;
  to: string;
  /** UUID */
  property: Uuid;
}

const rowsPerStatement = 100_000;
// As many statements at once.
const lanes = 2;
const closedTimeoutMs = 600_000;
const people = 100_000;
const type = "order.completed";

let history: Promise<History> | undefined;
let rebuildSeconds: Promise<number> | undefined;

/** Makes the events. */
export function makeHistory(context: SuiteContext): Promise<History> {
  history ??= make(context);
  return history;
}

/** Makes the roll-ups of the events, by the operator's command. @returns how long that took. */
export function countHistory(context: SuiteContext): Promise<number> {
  rebuildSeconds ??= count(context);
  return rebuildSeconds;
}

/** Writes events directly into their table, because HTTP would take half an hour. */
async function make({ database, daybook, history: { millions, days }, signal }: SuiteContext): Promise<History> {
  const events = millions * 1_000_000;
  const { pool } = database;
  const { propertyId: property } = daybook.other;
  const begin = new Date();
  begin.setUTCHours(0, 0, 0, 0);
  begin.setUTCDate(begin.getUTCDate() - days);
  const from = begin.toISOString();
  const to = new Date(begin.getTime() + days * 24 * 3_600_000).toISOString();
  // One event over HTTP creates the metric.
  const headers = { authorization: `Bearer ${daybook.other.key}`, "content-type": "application/json" };
  const body = { type, identifier: { type: "email", value: "first@example.com" }, properties: {}, occurred_at: from };
  await fetch(`${daybook.address}/v1/events`, { method: "POST", headers, body: JSON.stringify(body), signal });
  const starts = Array.from({ length: events / rowsPerStatement }, (_, index) => index * rowsPerStatement).values();
  const fill = async (): Promise<void> => {
    for (const start of starts) {
      signal.throwIfAborted();
      await pool.query(
        `INSERT INTO event.events (property_id, id, type, profile_id, properties, value, currency, occurred_at, received_at, source, backfill)
         SELECT $1, (lpad(to_hex(floor(extract(epoch FROM now()) * 1000)::bigint), 12, '0') || '7' || substr(md5('e' || n), 1, 3)
                     || '8' || substr(md5('f' || n), 1, 15))::uuid,
                $2, md5('p' || (hashint4(n) & 2147483647) % ${people})::uuid,
                json_build_object('order_id', 'o' || n, 'items', n % 9, 'plan', 'pro'), ((n % 50000) / 100.0)::numeric(12, 2), 'EUR',
                $3::timestamptz + n::double precision / ${events} * interval '${days} days',
                -- As if they had come in batches of 1,000.
                now() + (n / 1000) % 100 * interval '1 microsecond', 'api', true
         FROM generate_series($4::int, $5::int) AS n`,
        [property, type, from, start + 1, start + rowsPerStatement],
      );
    }
  };
  await Promise.all(Array.from({ length: lanes }, fill));
  await vacuum(pool, "event.events");
  return { type, events, days, from, to, property };
}

async function count(context: SuiteContext): Promise<number> {
  const { database, signal } = context;
  const { property } = await makeHistory(context);
  const startMs = performance.now();
  await rebuild(dataFolder(database), encodeId("prop", property), signal);
  const seconds = (performance.now() - startMs) / 1000;
  await closeDays(database.pool, signal);
  await vacuum(database.pool, "metric.rollups, metric.rollup_profiles");
  return seconds;
}

/** Takes longer than other statements may. */
async function vacuum(pool: BenchDatabase["pool"], tables: string): Promise<void> {
  const connection = await pool.connect();
  try {
    await connection.query("SET statement_timeout = 0");
    await connection.query(`VACUUM (ANALYZE) ${tables}`);
    await connection.query("RESET statement_timeout");
  } finally {
    connection.release();
  }
}

/** Waits until Daybook has made the sets of whole days, which it otherwise does after a quarter of an hour. */
async function closeDays(pool: BenchDatabase["pool"], signal: AbortSignal): Promise<void> {
  await pool.query("UPDATE metric.open_days SET opened_at = opened_at - interval '1 hour'");
  for (const deadlineMs = performance.now() + closedTimeoutMs; ; await sleep(1000, undefined, { signal })) {
    const open = await pool.query("SELECT FROM metric.open_days WHERE day < now() - interval '2 days' LIMIT 1");
    if (open.rowCount === 0) return;
    if (performance.now() > deadlineMs) throw new Error("the days of the history stay open");
  }
}

async function rebuild(dataDir: string, propertyId: string, signal: AbortSignal): Promise<void> {
  const words = ["gateway/cli/main.ts", "metrics", "rebuild", "--property", propertyId];
  const child = spawn(process.execPath, words, {
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ["ignore", "ignore", "inherit"],
    signal,
  });
  const code = await new Promise<number | null>((resolve, reject) => child.once("exit", resolve).once("error", reject));
  if (code !== 0) throw new Error("the events could not be counted anew");
}
