/**
 * What the database does without a server before it: single-row INSERTs of many clients, each its own transaction.
 * `pgbench` of PATH runs them, else a process with pipelined connections.
 */
import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { emailsMax } from "../support/events.ts";
import { countRows, createEventTable, type BenchDatabase } from "../support/database.ts";
import type { Contestant, Run } from "../support/rounds.ts";
import { percentile } from "../support/stats.ts";
import { propertyId } from "./baseline.ts";

/** What inserts.process.ts gets and gives. */
export interface InsertsTask {
  url: string;
  text: string;
  clients: number;
  seconds: number;
}
export interface InsertsResult {
  elapsedS: number;
  /** Of each INSERT, in milliseconds. */
  latenciesMs: number[];
}

const run = promisify(execFile);
const threads = 2;
const seed = 20_260_501;
const outputBytesMax = 1024 * 1024;
const processFile = join(import.meta.dirname, "inserts.process.ts");

/** @param clients so many connections. */
export async function insertsContestant(
  database: BenchDatabase,
  clients: number,
  signal: AbortSignal,
): Promise<Contestant> {
  const table = await createEventTable(database.pool, "inserted_events");
  const hasPgbench = await run("pgbench", ["--version"]).then(
    () => true,
    () => false,
  );
  return {
    name: hasPgbench ? "INSERTs of pgbench" : "INSERTs of a process",
    run: (seconds) => (hasPgbench ? runPgbench : runProcess)(database, table, { clients, seconds, signal }),
    // The load generator is no server.
    cpuSeconds: () => Promise.resolve(Number.NaN),
    countRows: () => countRows(database.pool, table),
  };
}

/**
 * An INSERT of a row like those of makeEvents.
 * @param person an SQL expression for the number of a person, and `order` of an order.
 */
function insertOf(table: string, person: string, order: string): string {
  return `INSERT INTO ${table} (property_id, id, type, identifier_type, identifier_value, properties, value, currency,
    occurred_at, received_at, source, backfill) VALUES ('${propertyId}', uuidv7(), 'order.completed', 'email',
    'person' || ${person}::int || '@example.com', ('{"order_id":"o' || ${order}::int || '","items":3,"plan":"basic"}')::jsonb,
    123.45, 'EUR', now(), now(), 'api', false)`;
}

interface Load {
  clients: number;
  seconds: number;
  signal: AbortSignal;
}

async function runPgbench({ url, folder }: BenchDatabase, table: string, load: Load): Promise<Run> {
  const { clients, seconds, signal } = load;
  const script = join(folder, "inserts.sql");
  const insert = insertOf(table, ":person", ":order").replaceAll(/\s+/g, " ");
  const draws = [`\\set person random(0, ${emailsMax - 1})`, "\\set order random(0, 999999)"];
  await writeFile(script, [...draws, `${insert};`, ""].join("\n"));
  const prefix = "pgbench_log";
  const size = ["--client", String(clients), "--jobs", String(threads), "--time", String(seconds)];
  const same = ["--random-seed", String(seed), "--log", "--log-prefix", join(folder, prefix)];
  const words = ["--no-vacuum", "--protocol", "prepared", ...size, "--file", script, ...same, url];
  const { stdout } = await run("pgbench", words, { maxBuffer: outputBytesMax, signal });
  const items = Number(/actually processed: (\d+)/.exec(stdout)?.[1]);
  const perSecond = Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
  const latenciesMs: number[] = [];
  for (const file of await readdir(folder)) {
    if (!file.startsWith(prefix)) continue;
    // Its third column is the time of a transaction in microseconds.
    const lines = (await readFile(join(folder, file), "utf8")).trimEnd().split("\n");
    for (const line of lines) latenciesMs.push(Number(line.split(" ")[2]) / 1000);
    await rm(join(folder, file));
  }
  return { items, elapsedS: items / perSecond, ...percentilesOf(latenciesMs) };
}

async function runProcess({ url }: BenchDatabase, table: string, { clients, seconds, signal }: Load): Promise<Run> {
  const child = fork(processFile, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  try {
    const task: InsertsTask = { url, text: insertOf(table, "$1", "$2"), clients, seconds };
    child.send(task);
    const [{ elapsedS, latenciesMs }] = (await once(child, "message", { signal })) as [InsertsResult];
    return { items: latenciesMs.length, elapsedS, ...percentilesOf(latenciesMs) };
  } finally {
    child.kill();
  }
}

function percentilesOf(latenciesMs: readonly number[]): { p50Ms: number; p99Ms: number } {
  const sorted = Float64Array.from(latenciesMs).toSorted();
  return { p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) };
}
