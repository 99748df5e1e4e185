/**
 * The transactional outbox. A service writes what it has to say into its table `outbox` in the transaction that makes it true; the relay
 * publishes the rows and deletes them. At least once: a crash between the two publishes a row again, with the same id.
 *
 * Rows are deleted, not passed by a mark: one that commits late, behind others with a higher id, is simply found by the next look.
 * Several relays share the table, each taking rows that no other holds.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Gauge, type Registry } from "prom-client";
import type { Bus, BusMessage } from "./bus.ts";
import type { Log } from "./log.ts";
import { statement, withTransaction, type Database, type Transaction } from "./postgres.ts";

/** Publishes the rows of one outbox table. */
export interface OutboxRelay {
  /** Says that a row was committed, so that it need not wait for the next look. */
  wake(): void;
  /** Starts to publish. */
  start(): void;
  /** Publishes what is under way, then stops. */
  close(): Promise<void>;
}

/** What a relay works with. */
export interface OutboxRelayOptions {
  database: Database;
  /** The schema that holds the table `outbox`. */
  schema: string;
  bus: Bus;
  log: Log;
  registry: Registry;
}

const rowsMax = 64;
// Between two rounds, so that under load rows gather and share a round: a round costs about eleven statements whatever it carries.
const paceMs = 50;
// Rows of another process that died, and rows that wait to be tried again, are found by looking.
const lookIntervalMs = 500;

/** Makes the relay of a service. */
export function createOutboxRelay({ database, schema, bus, log, registry }: OutboxRelayOptions): OutboxRelay {
  const takeRows = statement<{ id: string; subject: string; payload: Buffer }>(
    `${schema}.outbox.take`,
    `SELECT id, subject, payload FROM ${schema}.outbox WHERE available_at <= now()
     ORDER BY id LIMIT ${rowsMax} FOR UPDATE SKIP LOCKED`,
  );
  const deleteRows = statement(`${schema}.outbox.delete`, `DELETE FROM ${schema}.outbox WHERE id = ANY($1::uuid[])`);
  // Doubles from half a second to half a minute.
  const postponeRows = statement(
    `${schema}.outbox.postpone`,
    `UPDATE ${schema}.outbox SET attempts = attempts + 1, available_at = now() + least(30, 0.5 * 2 ^ least(attempts, 10)) * interval '1 second'
     WHERE id = ANY($1::uuid[])`,
  );
  const countRows = statement<{ rows: number }>(
    `${schema}.outbox.count`,
    `SELECT count(*) AS rows FROM ${schema}.outbox`,
  );

  const skipDiskWait = statement(`${schema}.outbox.skip_disk_wait`, "SET LOCAL synchronous_commit = off");

  const stopping = new AbortController();
  let wakeUp = Promise.withResolvers<void>();
  let running: Promise<void> = Promise.resolve();

  const depths = depthsOf(registry);
  // While the database is away the other figures are wanted all the more.
  depths.set(schema, () =>
    countRows(database, []).then(
      ([count]) => count?.rows,
      () => undefined,
    ),
  );

  /** @returns how many rows were taken. */
  function relayOnce(): Promise<number> {
    return withTransaction(database, async (tx) => {
      // If the deletion is lost in a crash the rows are published again, which is harmless; so it need not wait for the disk.
      await skipDiskWait(tx, []);
      const rows = await takeRows(tx, []);
      if (rows.length === 0) return 0;
      const failures = await bus.publish(
        rows.map(({ id, subject, payload }): BusMessage => ({ id, subject, payload })),
      );
      const published = rows.filter((_, index) => failures[index] === undefined).map(({ id }) => id);
      const failed = rows.filter((_, index) => failures[index] !== undefined).map(({ id }) => id);
      if (published.length > 0) await deleteRows(tx, [published]);
      if (failed.length > 0) {
        await postponeRows(tx, [failed]);
        log.warn({ err: failures.find((failure) => failure !== undefined), rows: failed.length }, "publishing failed");
      }
      return rows.length;
    });
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      wakeUp = Promise.withResolvers<void>();
      let taken = 0;
      try {
        taken = await relayOnce();
      } catch (error) {
        log.warn({ err: error }, "the outbox cannot be read");
      }
      if (taken === rowsMax) continue;
      if (taken > 0) await pause(paceMs);
      const timer = setTimeout(wakeUp.resolve, lookIntervalMs);
      await wakeUp.promise;
      clearTimeout(timer);
    }
  }

  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
  }

  return {
    wake: () => wakeUp.resolve(),
    start() {
      running = run();
    },
    async close() {
      stopping.abort();
      wakeUp.resolve();
      await running;
      depths.delete(schema);
    },
  };
}

const rewriteRowsMax = 500;

/**
 * Rewrites messages that are not published yet. Those that are on their way at this moment are left alone: a bus that is away can keep them there
 * for long, and a consumer within the process would wait for the relay that waits for it.
 * @param rewrite gives a message as it is to be, or undefined for one that stays.
 */
export async function rewriteMessages(
  tx: Transaction,
  of: { schema: string; property: string; subject: string },
  rewrite: (payload: Buffer) => Uint8Array | undefined,
): Promise<void> {
  const { schema, property, subject } = of;
  const lockRows = statement<{ id: string; payload: Buffer }>(
    `${schema}.outbox.lock`,
    `SELECT id, payload FROM ${schema}.outbox WHERE property_id = $1 AND subject = $2 AND id > $3
     ORDER BY id LIMIT ${rewriteRowsMax} FOR UPDATE SKIP LOCKED`,
  );
  const rewriteRow = statement(
    `${schema}.outbox.rewrite`,
    `UPDATE ${schema}.outbox SET payload = $3 WHERE property_id = $1 AND id = $2`,
  );
  let after = "00000000-0000-0000-0000-000000000000";
  for (;;) {
    const rows = await lockRows(tx, [property, subject, after]);
    for (const { id, payload } of rows) {
      const rewritten = rewrite(payload);
      if (rewritten) await rewriteRow(tx, [property, id, Buffer.from(rewritten)]);
    }
    const last = rows.at(-1);
    if (!last || rows.length < rewriteRowsMax) return;
    after = last.id;
  }
}

/** Counts the rows of an outbox, if the database answers. */
type CountDepth = () => Promise<number | undefined>;

const depthsOfRegistries = new WeakMap<Registry, Map<string, CountDepth>>();

/** One gauge for all outboxes of a process. @returns what counts each, by schema. */
function depthsOf(registry: Registry): Map<string, CountDepth> {
  const known = depthsOfRegistries.get(registry);
  if (known) return known;
  const depths = new Map<string, CountDepth>();
  depthsOfRegistries.set(registry, depths);
  const gauge = new Gauge({
    name: "daybook_outbox_rows",
    help: "Messages committed and not yet published.",
    labelNames: ["schema"],
    registers: [],
    async collect() {
      this.reset();
      for (const [schema, count] of depths) {
        const rows = await count();
        if (rows !== undefined) this.set({ schema }, rows);
      }
    },
  });
  registry.registerMetric(gauge);
  return depths;
}
