/** Publishes the rows of an outbox that are due. */
import { BusAwayError, type Bus, type Place } from "../bus/bus.ts";
import { reasonOf } from "../bus/delivery.ts";
import { withTransaction, type Database } from "../database/postgres.ts";
import type { Log } from "../process/log.ts";
import { publishInSpan } from "../tracing/messages.ts";
import type { Uuid } from "../values/ids.ts";
import type { OutboxStatements } from "./sql.ts";

interface Publishing {
  statements: OutboxStatements;
  database: Database;
  bus: Bus;
  log: Log;
}

// A failed message is tried again after the shortest delay, and after twice as long with each attempt.
const retryDelaySecondsMin = 0.5;
const retryDelaySecondsMax = 30;

/**
 * Publishes due rows of a property, and notes what became of each.
 * @returns how many rows it took, and whether the bus was away for any of them.
 */
export function publishDue(
  { statements, database, bus, log }: Publishing,
  property: Uuid,
): Promise<{ taken: number; isAway: boolean }> {
  return withTransaction(database, async (tx) => {
    // A crash that loses this commit publishes the rows again, which is harmless, so it need not wait for the disk.
    await statements.skipDiskWait(tx, []);
    const rows = await statements.take(tx, [property]);
    if (rows.length === 0) return { taken: 0, isAway: false };
    const messages = rows.map(({ id, subject, payload }) => ({ id, subject, payload }));
    const outcomes = await publishInSpan(messages, () => bus.publish(messages));
    const taken: Uuid[] = [];
    const kept: { id: Uuid; place: Place }[] = [];
    const refused: { id: Uuid; attempts: number; failure: Error }[] = [];
    let away: Error | undefined;
    for (const [index, { id, attempts }] of rows.entries()) {
      const outcome = outcomes[index] ?? new Error("the bus did not say what became of a message");
      if (outcome === "taken") taken.push(id);
      else if (outcome instanceof BusAwayError) away ??= outcome;
      else if (outcome instanceof Error) refused.push({ id, attempts, failure: outcome });
      else kept.push({ id, place: outcome });
    }
    if (taken.length > 0) await statements.remove(tx, [property, taken]);
    for (const [epoch, noted] of Map.groupBy(kept, ({ place }) => place.epoch)) {
      await statements.note(tx, [property, epoch, noted.map(({ id, place }) => ({ id, sequence: place.sequence }))]);
    }
    for (const [delaySeconds, some] of Map.groupBy(refused, ({ attempts }) => retryDelaySeconds(attempts))) {
      const failures = some.map(({ id, failure }) => ({ id, failure: reasonOf(failure) }));
      await statements.postpone(tx, [property, delaySeconds, failures]);
    }
    if (refused.length > 0) log.warn({ err: refused[0]?.failure, rows: refused.length }, "publishing failed");
    if (away) log.warn({ err: away, rows: rows.length }, "what waits in the outbox cannot be published for now");
    return { taken: rows.length, isAway: away !== undefined };
  });
}

function retryDelaySeconds(attempts: number): number {
  return Math.min(retryDelaySecondsMax, retryDelaySecondsMin * 2 ** attempts);
}
