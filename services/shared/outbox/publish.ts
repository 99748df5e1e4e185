/** Publishes the rows of an outbox that are due. */
import { BusAwayError, type Bus, type Place } from "../bus/bus.ts";
import { reasonOf } from "../bus/delivery.ts";
import { withTransaction, type Database } from "../database/postgres.ts";
import type { Log } from "../process/log.ts";
import { publishInSpan } from "../tracing/messages.ts";
import type { Uuid } from "../values/ids.ts";
import { outboxTakeRowsMax, type DueRow, type OutboxStatements } from "./sql.ts";

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
 * Publishes due rows of a property, or of several on one server, and notes what became of each.
 * @returns how many rows it took, and whether the bus was away for any of them.
 */
export function publishDue(
  { statements, database, bus, log }: Publishing,
  properties: readonly Uuid[],
): Promise<{ taken: number; isAway: boolean }> {
  const [property] = properties.length === 1 ? properties : [];
  return withTransaction(database, async (tx) => {
    // A crash that loses this commit publishes the rows again, which is harmless, so it need not wait for the disk.
    await statements.skipDiskWait(tx, []);
    const rows = await (property ? statements.take(tx, [property]) : statements.takeOfAll(tx, [properties]));
    if (rows.length === 0) return { taken: 0, isAway: false };
    const messages = rows.map(({ id, subject, payload }) => ({ id, subject, payload }));
    const outcomes = await publishInSpan(messages, () => bus.publish(messages));
    const taken: DueRow[] = [];
    const kept: { row: DueRow; place: Place }[] = [];
    const refused: { row: DueRow; failure: Error }[] = [];
    let away: Error | undefined;
    for (const [index, row] of rows.entries()) {
      const outcome = outcomes[index] ?? new Error("the bus did not say what became of a message");
      if (outcome === "taken") taken.push(row);
      else if (outcome instanceof BusAwayError) away ??= outcome;
      else if (outcome instanceof Error) refused.push({ row, failure: outcome });
      else kept.push({ row, place: outcome });
    }
    if (taken.length > 0) {
      if (property) await statements.remove(tx, [property, taken.map(idOf)]);
      else await statements.removeOfAll(tx, [taken.map(propertyOf), taken.map(idOf)]);
    }
    for (const [epoch, noted] of Map.groupBy(kept, ({ place }) => place.epoch)) {
      if (property) {
        const places = noted.map(({ row, place }) => ({ id: row.id, sequence: place.sequence }));
        await statements.note(tx, [property, epoch, places]);
        continue;
      }
      const noteRows = noted.map(({ row }) => row);
      const sequences = noted.map(({ place }) => place.sequence);
      await statements.noteOfAll(tx, [noteRows.map(propertyOf), noteRows.map(idOf), sequences, epoch]);
    }
    for (const some of Map.groupBy(refused, ({ row }) => `${row.property_id} ${row.attempts}`).values()) {
      const { property_id: of, attempts } = (some[0] as (typeof some)[0]).row;
      const failures = some.map(({ row, failure }) => ({ id: row.id, failure: reasonOf(failure) }));
      await statements.postpone(tx, [of, retryDelaySeconds(attempts), failures]);
    }
    if (refused.length > 0) log.warn({ err: refused[0]?.failure, rows: refused.length }, "publishing failed");
    if (away) log.warn({ err: away, rows: rows.length }, "what waits in the outbox cannot be published for now");
    return { taken: rows.length, isAway: away !== undefined };
  });
}

/**
 * Divides properties into turns. Properties with few due rows share a turn on one server, because a turn costs several
 * statements however few rows it has.
 * @param due properties, with how many of the rows that were read are theirs. The last may have more.
 */
export function divideIntoTurns(due: readonly { property_id: Uuid; rows: number }[], isSpread: boolean): Uuid[][] {
  if (isSpread) return due.map(({ property_id: property }) => [property]);
  const turns: Uuid[][] = [];
  let shared: { properties: Uuid[]; rows: number } = { properties: [], rows: 0 };
  for (const [index, { property_id: property, rows }] of due.entries()) {
    if (rows > sharedRowsMax || index === due.length - 1) turns.push([property]);
    else {
      if (shared.rows === 0 || shared.rows + rows > outboxTakeRowsMax) {
        shared = { properties: [], rows: 0 };
        turns.push(shared.properties);
      }
      shared.properties.push(property);
      shared.rows += rows;
    }
  }
  return turns;
}

// A property with more due rows has a turn of its own.
const sharedRowsMax = outboxTakeRowsMax / 4;

const idOf = ({ id }: DueRow): Uuid => id;
const propertyOf = ({ property_id: property }: DueRow): Uuid => property;

function retryDelaySeconds(attempts: number): number {
  return Math.min(retryDelaySecondsMax, retryDelaySecondsMin * 2 ** attempts);
}
