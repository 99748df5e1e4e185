/** `npm run bench`: starts what it needs, runs the suites, prints ratios, and removes everything. */
import { join } from "node:path";
import { Owner } from "#shared/process/lifecycle.ts";
import { startDaybook } from "./contestants/daybook.ts";
import { aggregate, uniques } from "./suites/aggregates.ts";
import { batches } from "./suites/batches.ts";
import { compatEvents, compatImport } from "./suites/compat.ts";
import { counted } from "./suites/counted.ts";
import { dashboard } from "./suites/dashboard.ts";
import { fairness } from "./suites/fairness.ts";
import { full } from "./suites/full.ts";
import { guarantees } from "./suites/guarantees.ts";
import { indexes } from "./suites/indexes.ts";
import { list } from "./suites/list.ts";
import { liveSoak } from "./suites/live-soak.ts";
import { mesh } from "./suites/mesh.ts";
import { nonReaders } from "./suites/non-readers.ts";
import { overload } from "./suites/overload.ts";
import { profileReads, profileUpserts } from "./suites/profiles.ts";
import { singleEvents } from "./suites/single-events.ts";
import { stall } from "./suites/stall.ts";
import { webhooks } from "./suites/webhooks.ts";
import { workers } from "./suites/workers.ts";
import type { Suite } from "./suites/suite.ts";
import { startDatabase } from "./support/database.ts";
import { readOptions, type Options } from "./support/options.ts";
import { formatComparison, writeResults, type Comparison } from "./support/report.ts";

const suites: Record<string, Suite> = {
  single: singleEvents,
  batch: batches,
  indexes,
  read: profileReads,
  upsert: profileUpserts,
  compat: compatEvents,
  import: compatImport,
  counted,
  workers,
  mesh,
  guarantees,
  overload,
  "non-readers": nonReaders,
  fairness,
  stall,
  dashboard,
  webhooks,
  "live-soak": liveSoak,
  // These come last, because their data would change the tables for other suites.
  list,
  aggregate,
  uniques,
  full,
};

const resultsFile = join(import.meta.dirname, "results/latest.json");
// Of events to make before some suites.
const secondsPerMillionMax = 400;
// More than a suite has contestants, to allow for warm-up and pauses.
const runsPerRoundMax = 8;
const stopTimeoutMs = 60_000;

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => interrupted.abort(new Error(`${signal} received`)));
}

async function bench(options: Options, owner: Owner, signal: AbortSignal): Promise<void> {
  const { rounds, seconds, minutes, history } = options;
  const database = await startDatabase(owner);
  const daybook = owner.own(await startDaybook(database, signal));
  const beforeRun = async (): Promise<void> => {
    signal.throwIfAborted();
    // Flushes what a contestant wrote before the next one starts.
    await database.pool.query("CHECKPOINT");
  };
  const comparisons: Comparison[] = [];
  for (const name of options.suites) {
    const comparison = await suites[name]?.({
      database,
      daybook,
      rounds,
      seconds,
      minutes,
      history,
      signal,
      beforeRun,
    });
    if (!comparison) continue;
    comparisons.push(comparison);
    process.stdout.write(formatComparison(comparison));
  }
  await writeResults(resultsFile, { rounds, seconds }, comparisons);
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2), Object.keys(suites));
  const { rounds, seconds, minutes, history } = options;
  const secondsMax =
    history.millions * secondsPerMillionMax +
    minutes * 120 +
    options.suites.length * rounds * seconds * runsPerRoundMax;
  const signal = AbortSignal.any([interrupted.signal, AbortSignal.timeout(secondsMax * 1000)]);
  const owner = new Owner();
  try {
    process.stdout.write(`Measuring: ${options.suites.join(", ")}; ${rounds} rounds of ${seconds} s each …\n`);
    await bench(options, owner, signal);
  } finally {
    setTimeout(() => process.exit(1), stopTimeoutMs).unref();
    await owner.close();
  }
}

try {
  await main();
} catch (error) {
  const isOurs = error instanceof Error && !interrupted.signal.aborted;
  process.stderr.write(`The bench failed: ${isOurs ? error.stack : String(error)}\n`);
  process.exitCode = 1;
} finally {
  // Ends whatever still hangs.
  process.exit();
}
