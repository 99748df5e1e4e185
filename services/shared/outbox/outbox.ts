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
import { BusAwayError, type Bus, type Place, type RewriteLetter } from "../bus/bus.ts";
import { asError } from "../bus/delivery.ts";
import { DaybookError } from "../values/errors.ts";
import { newUuid, nilUuid, type Uuid } from "../values/ids.ts";
import { Owner } from "../process/lifecycle.ts";
import type { Log } from "../process/log.ts";
import { measureOutbox } from "./metrics.ts";
import { divideIntoTurns, publishDue } from "./publish.ts";
import { outboxBytesMaxDefault, watchRoom } from "./room.ts";
import { settleTaken, takenIntervalMs } from "./taken.ts";
import { withTrace } from "../tracing/messages.ts";
import { isDatabaseAway } from "../database/failures.ts";
import type { Database, Transaction } from "../database/postgres.ts";
import { repeat } from "../scheduling/repeat.ts";
import {
  outboxLookRowsMax,
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
const lanesMax = 4;
// The pause before the next attempt while the bus is away.
const awayPauseMs = 500;
// Polling finds the rows of killed processes, and rows that are due for a retry.
const lookIntervalMs = 500;

/** Makes the relay of a service. */
export function createOutboxRelay(options: OutboxRelayOptions): OutboxRelay {
  const { database, schema, bus, log, registry, outboxBytesMax = outboxBytesMaxDefault } = options;
  const statements = outboxStatements(schema);
  // Each holds a connection, and so may the handler of a message within the process. The rest is for requests.
  const lanes = Math.max(1, Math.min(lanesMax, Math.floor(database.options.max / 3)));
  const owner = new Owner();
  const stopping = new AbortController();
  let settledSession: number | undefined;
  let isSpread: boolean | undefined;
  let wakeUp = Promise.withResolvers<void>();
  let running: Promise<void> = Promise.resolve();
  const room = watchRoom(statements, database, outboxBytesMax, log);
  owner.own(measureOutbox(registry, schema, () => statements.count(database, []).then(([counts]) => counts)));

  /**
   * Gives each property that has due rows a turn. Turns are taken in lanes, so that a property whose messages take long
   * does not hold up all others. Ends early when the bus is away or was away.
   */
  async function relayAll(): Promise<{ taken: number; isFull: boolean; isAway: boolean }> {
    const round = { taken: 0, isFull: false, isAway: false };
    const mayGoOn = (): boolean => !round.isAway && !stopping.signal.aborted && bus.session === settledSession;
    const giveTurns = async (turns: Iterable<readonly Uuid[]>): Promise<void> => {
      for (const properties of turns) {
        if (!mayGoOn()) return;
        try {
          const { taken, isAway } = await publishDue({ statements, database, bus, log }, properties);
          round.taken += taken;
          round.isFull ||= taken === outboxTakeRowsMax;
          round.isAway ||= isAway;
        } catch (error) {
          log.warn({ err: error }, "the outbox cannot be read");
          if (isDatabaseAway(error)) return;
        }
      }
    };
    for (let after: Uuid | undefined = nilUuid; after !== undefined && mayGoOn();) {
      const waiting: { property_id: Uuid; rows: number }[] = await statements.waiting(database, [after]);
      isSpread ??= (await statements.findSpread(database, []))[0]?.is_spread ?? true;
      const turns = divideIntoTurns(waiting, isSpread).values();
      await Promise.all(Array.from({ length: lanes }, () => giveTurns(turns)));
      const rows = waiting.reduce((sum, each) => sum + each.rows, 0);
      after = rows < outboxLookRowsMax ? undefined : waiting.at(-1)?.property_id;
    }
    return round;
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
      let round = { taken: 0, isFull: false, isAway: false };
      try {
        round = await relayAll();
      } catch (error) {
        log.warn({ err: error }, "the outbox cannot be read");
      }
      if (round.isAway) await pause(awayPauseMs, stopping.signal);
      if (round.isFull) continue;
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
      const page = await statements.pagePublished(database, [propertyId, id, outboxStepRowsMax]);
      let rows = 0;
      for (const [property, some] of Map.groupBy(page, ({ property_id }) => property_id)) {
        rows += (await statements.unpublishRows(database, [property, some.map((row) => row.id)])).length;
      }
      if (rows > 0) wake();
      const last = page.at(-1);
      const isLast = page.length < outboxStepRowsMax || last === undefined;
      return { rows, next: isLast ? undefined : { propertyId: last.property_id, id: last.id } };
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

/** Leaves a dead letter that cannot be parsed unchanged, because its profile is unknown. It is deleted by its age. */
export function readable(rewrite: RewriteLetter): RewriteLetter {
  return (payload) => {
    try {
      return rewrite(payload);
    } catch {
      return undefined;
    }
  };
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
