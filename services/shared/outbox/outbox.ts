/**
 * The transactional outbox. A service writes what it has to say into its table `outbox` in the transaction that makes it true; the relay
 * publishes the rows. A row goes when its message was taken: at once, where publishing waits for the consumers, else when outbox-taken.ts finds
 * that they have it. At least once: a crash on the way publishes a row again, with the same id.
 *
 * Rows that wait are not passed by a mark: one that commits late, behind others with a higher id, is simply found by the next look. Several
 * relays share the table, each taking rows that no other holds.
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
  /** Adds a message in the transaction that makes it true. `wake` once that is committed. */
  enqueue(tx: Transaction, property: Uuid, subject: string, payload: Uint8Array): Promise<void>;
  /** Says that a row was committed, so that it need not wait for the next look. */
  wake(): void;
  /**
   * To be asked before a write that tells of itself: whether the outbox has room for that.
   * @throws DaybookError `service_unavailable` while it has not.
   */
  checkRoom(): void;
  /** What it holds, and some of the rows whose messages were refused. */
  describe(): Promise<OutboxSize & { failing: FailingRow[] }>;
  /**
   * Publishes again what is published and not taken, a number of rows at a time.
   * @param after what the last call gave as `next`.
   * @returns how many rows; `next` is undefined when those were the last.
   */
  republish(after: RowKey | undefined): Promise<{ rows: number; next: RowKey | undefined }>;
  /** Starts to publish. */
  start(): void;
  /** Publishes what is under way, then stops. */
  close(): Promise<void>;
}

/** Names a row. */
export interface RowKey {
  propertyId: Uuid;
  id: Uuid;
}

/** What a relay works with. */
export interface OutboxRelayOptions {
  database: Database;
  /** The schema that holds the table `outbox`. */
  schema: string;
  bus: Bus;
  log: Log;
  registry: Registry;
  /** How many bytes of messages it may hold before writes are refused. */
  outboxBytesMax?: number | undefined;
}

// Between two rounds, so that under load rows gather and share a round: a round costs about eleven statements whatever it carries.
const paceMs = 50;
// While the bus is away rows stay as they are, and are tried again after this.
const awayPauseMs = 500;
// Rows of another process that died, and rows that wait to be tried again, are found by looking.
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

  /** @returns how many rows were taken, and whether the bus was there for them. */
  function relayOnce(): Promise<{ taken: number; isAway: boolean }> {
    return withTransaction(database, async (tx) => {
      // If what is noted is lost in a crash the rows are published again, which is harmless; so it need not wait for the disk.
      await statements.skipDiskWait(tx, []);
      const rows = await statements.take(tx, []);
      if (rows.length === 0) return { taken: 0, isAway: false };
      const outcomes = await bus.publish(rows.map(({ id, subject, payload }) => ({ id, subject, payload })));
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
      for (const [epoch, some] of Map.groupBy(kept, ({ place }) => place.epoch)) {
        await statements.note(tx, [some.map(({ id }) => id), epoch, some.map(({ place }) => place.sequence)]);
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
      // A bus that was away may have lost the last that it was given: that is found before new messages take its sequences.
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

  /** Deletes what was taken; publishes again what the bus has lost. @returns whether the bus could tell. */
  async function settle(signal: AbortSignal): Promise<boolean> {
    try {
      const { unpublished } = await settleTaken({ statements, database, bus, log, signal });
      if (unpublished > 0) wake();
      return true;
    } catch (error) {
      // It is said where something waits to be published; what is published can wait.
      if (!(error instanceof BusAwayError)) log.warn({ err: asError(error) }, "nobody can tell what was taken");
      return false;
    }
  }

  return {
    schema,
    async enqueue(tx, property, subject, payload) {
      await statements.enqueue(tx, [property, newUuid(), subject, Buffer.from(payload)]);
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

function byKey(one: { property_id: string; id: string }, other: { property_id: string; id: string }): number {
  return `${one.property_id}${one.id}` < `${other.property_id}${other.id}` ? -1 : 1;
}

// Longer than it takes to delete the old message: until then the bus would know the rewritten one as a repeat of it.
const rewrittenDelaySeconds = 10;

/**
 * Rewrites messages that wait, and those that are published and not taken: these are published again, as they then are. Those that are on their way at this
 * moment are left alone: a bus that is away can keep them there for long, and a consumer within the process would wait for the relay that
 * waits for it.
 * @param rewrite gives a message as it is to be, or undefined for one that stays.
 * @returns where the bus has messages as they were before: to be deleted with deleteReplaced, once the transaction is committed.
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

/** Deletes from the bus what rewriteMessages has replaced. What cannot be deleted now goes as any other message does: once it is taken. */
export async function deleteReplaced(bus: Bus, replaced: readonly Place[]): Promise<void> {
  for (const [epoch, places] of Map.groupBy(replaced, (place) => place.epoch)) {
    await bus.forget(
      epoch,
      places.map(({ sequence }) => sequence),
    );
  }
}
