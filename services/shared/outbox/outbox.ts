/**
 * The transactional outbox. A service inserts a message into its table `outbox` in the transaction of the data, and the
 * relay publishes it. The row is deleted once all consumers have acknowledged the message: at once where publishing
 * waits for them, else by taken.ts. Delivery is at least once: a crash while publishing repeats a message with its id.
 *
 * There is no high-water mark: pending rows are polled by state, so a row that commits late is never skipped. Several
 * relays can share the table.
 */
import type { Registry } from "prom-client";
import { pause } from "../scheduling/pause.ts";
import { BusAwayError, type Bus, type Place } from "../bus/bus.ts";
import { asError, reasonOf } from "../bus/delivery.ts";
import { DaybookError } from "../values/errors.ts";
import { newUuid, nilUuid, type Uuid } from "../values/ids.ts";
import { Owner } from "../process/lifecycle.ts";
import type { Log } from "../process/log.ts";
import { measureOutbox } from "./metrics.ts";
import { outboxBytesMaxDefault, watchRoom } from "./room.ts";
import { settleTaken, takenIntervalMs } from "./taken.ts";
import { publishInSpan, withTrace } from "../tracing/messages.ts";
import { withTransaction, type Database, type Transaction } from "../database/postgres.ts";
import { repeat } from "../scheduling/repeat.ts";
import {
  outboxRewriteRowsMax,
  outboxStatements,
  outboxStepRowsMax,
  outboxTakeRowsMax,
  type FailingRow,
  type OutboxSize,
} from "./sql.ts";

/** Publishes the rows of one outbox table. */
export interface OutboxRelay {
  /** The schema that holds the table. */
  readonly schema: string;
  /** Adds a message in the transaction of its data. Call `wake` after the commit. */
  enqueue(tx: Transaction, property: Uuid, subject: string, payload: Uint8Array): Promise<void>;
  /** Publishes committed rows now, before the next poll. */
  wake(): void;
  /**
   * Call before a write that adds a message.
   * @throws DaybookError `service_unavailable` while the outbox is full.
   */
  checkRoom(): void;
  /** The size of the outbox, and up to 20 rows whose messages failed to publish. */
  describe(): Promise<OutboxSize & { failing: FailingRow[] }>;
  /**
   * Publishes published, unacknowledged messages again, one page at a time.
   * @param after `next` of the last call.
   * @returns how many rows; `next` is undefined after the last page.
   */
  republish(after: RowKey | undefined): Promise<{ rows: number; next: RowKey | undefined }>;
  start(): void;
  /** Finishes the running round, then stops. */
  close(): Promise<void>;
}

/** The primary key of a row. */
export interface RowKey {
  propertyId: Uuid;
  id: Uuid;
}

export interface OutboxRelayOptions {
  database: Database;
  /** The schema that holds the table `outbox`. */
  schema: string;
  bus: Bus;
  log: Log;
  registry: Registry;
  /** Bytes of messages above which writes are refused. */
  outboxBytesMax?: number | undefined;
}

// Between rounds, so that under load rows share a round: each costs several statements, however few rows it has.
const paceMs = 50;
// The pause before the next attempt while the bus is away.
const awayPauseMs = 500;
// Polling finds the rows of killed processes, and rows that are due for a retry.
const lookIntervalMs = 500;

/** Makes the relay of a service. */
export function createOutboxRelay(options: OutboxRelayOptions): OutboxRelay {
  const { database, schema, bus, log, registry, outboxBytesMax = outboxBytesMaxDefault } = options;
  const statements = outboxStatements(schema);
  const owner = new Owner();
  const stopping = new AbortController();
  let settledSession: number | undefined;
  let wakeUp = Promise.withResolvers<void>();
  let running: Promise<void> = Promise.resolve();
  const room = watchRoom(statements, database, outboxBytesMax, log);
  owner.own(measureOutbox(registry, schema, () => statements.count(database, []).then(([counts]) => counts)));

  /** @returns how many rows the round had, and whether the bus was away for any of them. */
  function relayOnce(): Promise<{ taken: number; isAway: boolean }> {
    return withTransaction(database, async (tx) => {
      // A crash that loses this commit publishes the rows again, which is harmless, so it need not wait for the disk.
      await statements.skipDiskWait(tx, []);
      const rows = await statements.take(tx, []);
      if (rows.length === 0) return { taken: 0, isAway: false };
      const messages = rows.map(({ id, subject, payload }) => ({ id, subject, payload }));
      const outcomes = await publishInSpan(messages, () => bus.publish(messages));
      const taken: Uuid[] = [];
      const kept: { id: Uuid; place: Place }[] = [];
      const refused: { id: Uuid; failure: Error }[] = [];
      let away: Error | undefined;
      for (const [index, { id }] of rows.entries()) {
        const outcome = outcomes[index] ?? new Error("the bus did not say what became of a message");
        if (outcome === "taken") taken.push(id);
        else if (outcome instanceof BusAwayError) away ??= outcome;
        else if (outcome instanceof Error) refused.push({ id, failure: outcome });
        else kept.push({ id, place: outcome });
      }
      if (taken.length > 0) await statements.remove(tx, [taken]);
      for (const [epoch, noted] of Map.groupBy(kept, ({ place }) => place.epoch)) {
        await statements.note(tx, [noted.map(({ id }) => id), epoch, noted.map(({ place }) => place.sequence)]);
      }
      if (refused.length > 0) {
        const reasons = refused.map(({ failure }) => reasonOf(failure));
        await statements.postpone(tx, [refused.map(({ id }) => id), reasons]);
        log.warn({ err: refused[0]?.failure, rows: refused.length }, "publishing failed");
      }
      if (away) log.warn({ err: away, rows: rows.length }, "what waits in the outbox cannot be published for now");
      return { taken: rows.length, isAway: away !== undefined };
    });
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      // The bus may have lost its last messages. Settle before new messages take their sequences.
      const { session } = bus;
      if (session !== settledSession) {
        if (await settle(stopping.signal)) settledSession = session;
        else await pause(awayPauseMs, stopping.signal);
        continue;
      }
      wakeUp = Promise.withResolvers<void>();
      let round = { taken: 0, isAway: false };
      try {
        round = await relayOnce();
      } catch (error) {
        log.warn({ err: error }, "the outbox cannot be read");
      }
      if (round.isAway) await pause(awayPauseMs, stopping.signal);
      if (round.taken === outboxTakeRowsMax) continue;
      if (round.taken > 0) await pause(paceMs, stopping.signal);
      const timer = setTimeout(wakeUp.resolve, lookIntervalMs);
      await wakeUp.promise;
      clearTimeout(timer);
    }
  }

  const wake = (): void => wakeUp.resolve();

  /** Deletes acknowledged rows, and marks lost ones as pending. @returns whether that succeeded. */
  async function settle(signal: AbortSignal): Promise<boolean> {
    try {
      const { unpublished } = await settleTaken({ statements, database, bus, log, signal });
      if (unpublished > 0) wake();
      return true;
    } catch (error) {
      // The relay logs that the bus is away when it publishes.
      if (!(error instanceof BusAwayError)) log.warn({ err: asError(error) }, "nobody can tell what was taken");
      return false;
    }
  }

  return {
    schema,
    async enqueue(tx, property, subject, payload) {
      await statements.enqueue(tx, [property, newUuid(), subject, withTrace(payload)]);
    },
    wake,
    checkRoom() {
      if (room.hasRoom()) return;
      const message = "The bus has been away for too long, and more cannot be kept for it. Try again later.";
      throw new DaybookError("service_unavailable", message);
    },
    async describe() {
      const [[size = { waiting: 0, published: 0, bytes: 0 }], failing] = await Promise.all([
        statements.size(database, []),
        statements.failing(database, []),
      ]);
      return { ...size, failing };
    },
    async republish(after) {
      const { propertyId, id } = after ?? { propertyId: nilUuid, id: nilUuid };
      const rows = await statements.unpublishPage(database, [propertyId, id, outboxStepRowsMax]);
      if (rows.length > 0) wake();
      const last = rows.toSorted(byKey).at(-1);
      const isLast = rows.length < outboxStepRowsMax || last === undefined;
      return { rows: rows.length, next: isLast ? undefined : { propertyId: last.property_id, id: last.id } };
    },
    start() {
      owner.own(
        repeat(takenIntervalMs, log, "look what was taken", async (signal) => {
          await settle(signal);
        }),
      );
      owner.own(room.start());
      running = run();
    },
    async close() {
      stopping.abort();
      wakeUp.resolve();
      await running;
      await owner.close();
    },
  };
}

function byKey(a: { property_id: string; id: string }, b: { property_id: string; id: string }): number {
  return `${a.property_id}${a.id}` < `${b.property_id}${b.id}` ? -1 : 1;
}

// Longer than deleting the old message takes, because until then the bus takes the new one for a duplicate.
const rewrittenDelaySeconds = 10;

/**
 * Rewrites pending messages, and published, unacknowledged ones, which are published again. Rows locked by the relay
 * are skipped: a bus that is away can hold them for long, and an in-process consumer would deadlock with the relay.
 * @param rewrite returns the new payload, or undefined to keep the message.
 * @returns the places of the replaced messages: pass them to deleteReplaced after the commit.
 */
export async function rewriteMessages(
  tx: Transaction,
  of: { schema: string; property: Uuid; subject: string },
  rewrite: (payload: Buffer) => Uint8Array | undefined,
): Promise<Place[]> {
  const { schema, property, subject } = of;
  const statements = outboxStatements(schema);
  const replaced: Place[] = [];
  let after = nilUuid;
  for (;;) {
    const rows = await statements.lock(tx, [property, subject, after]);
    for (const { id, payload, epoch, sequence } of rows) {
      const rewritten = rewrite(payload);
      if (!rewritten) continue;
      const message = Buffer.from(rewritten);
      if (epoch === null || sequence === null) await statements.rewrite(tx, [property, id, message]);
      else {
        await statements.rewritePublished(tx, [property, id, message, rewrittenDelaySeconds]);
        replaced.push({ epoch, sequence });
      }
    }
    const last = rows.at(-1);
    if (!last || rows.length < outboxRewriteRowsMax) return replaced;
    after = last.id;
  }
}

/** Deletes the messages that rewriteMessages replaced. If that fails, acknowledgement or age deletes them. */
export async function deleteReplaced(bus: Bus, replaced: readonly Place[]): Promise<void> {
  for (const [epoch, places] of Map.groupBy(replaced, (place) => place.epoch)) {
    await bus.forget(
      epoch,
      places.map(({ sequence }) => sequence),
    );
  }
}
