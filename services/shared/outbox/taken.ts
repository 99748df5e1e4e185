/**
 * Published rows stay until every consumer of their subject has acknowledged them, because the bus may lose its store.
 * The bus reports the low watermark of each subject in its current epoch.
 *
 * A row becomes pending again, with the same id,
 * - when its epoch is not the current one: the stream was lost, or the server is another;
 * - when its sequence is above the last of the stream: the server lost what was not on its disk;
 * - when its sequence is below the first of the stream and unacknowledged: it is older than the stream keeps messages.
 *
 * Rows of a subject without consumers are kept for a day, in case a consumer is created late or was lost with the
 * store. The stream keeps their messages for the rest of its 7 days, and a new consumer begins with them.
 */
import type { Bus, Progress } from "../bus/bus.ts";
import type { Log } from "../process/log.ts";
import { inChunks, type Database } from "../database/postgres.ts";
import { outboxStepRowsMax, type OutboxStatements, type PublishedSubject } from "./sql.ts";

/** How often acknowledged rows are deleted. */
export const takenIntervalMs = 1_000;
const unclaimedAgeMaxSeconds = 24 * 60 * 60;
// Unflushed messages of minutes at most. One statement marks them all before new messages take their sequences.
const lostRowsMax = 10_000_000;
const sequenceMax = Number.MAX_SAFE_INTEGER;

interface Settling {
  statements: OutboxStatements;
  database: Database;
  bus: Bus;
  log: Log;
  signal: AbortSignal;
}

/**
 * Deletes acknowledged rows, and marks rows of lost messages as pending. Costs one index lookup without published rows.
 * @returns how many became pending.
 * @throws BusAwayError
 */
export async function settleTaken(settling: Settling): Promise<{ unpublished: number }> {
  const { statements, database, bus, log } = settling;
  // Read before the progress of the bus, which then covers all of these rows.
  const published = await statements.publishedSubjects(database, []);
  if (published.length === 0) return { unpublished: 0 };
  const progress = await bus.progress();
  const current = published.filter(({ epoch }) => epoch === progress.epoch);
  await removeTaken(settling, current, progress);
  let unpublished = 0;
  for (const rows of published) unpublished += await unpublishLost(settling, rows, progress);
  if (unpublished > 0) log.warn({ rows: unpublished }, "the bus has lost messages, which are published again");
  return { unpublished };
}

async function removeTaken(
  { statements, database, bus, signal }: Settling,
  published: readonly PublishedSubject[],
  { epoch, takenUpTo }: Progress,
): Promise<void> {
  const claimed = published.filter(({ subject }) => takenUpTo.has(subject));
  const subjects = claimed.map(({ subject }) => subject);
  const sequences = subjects.map((subject) => takenUpTo.get(subject) as number);
  if (subjects.length > 0) {
    await inChunks(
      outboxStepRowsMax,
      async (rows) => {
        const taken = await statements.removeTaken(database, [subjects, sequences, epoch, rows]);
        await bus.forget(
          epoch,
          taken.map(({ sequence }) => sequence),
        );
        return taken;
      },
      signal,
    );
  }
  for (const { subject } of published) {
    if (takenUpTo.has(subject)) continue;
    await inChunks(
      outboxStepRowsMax,
      (rows) => statements.removeUnclaimed(database, [subject, epoch, unclaimedAgeMaxSeconds, rows]),
      signal,
    );
  }
}

async function unpublishLost(
  { statements, database, signal }: Settling,
  { subject, epoch, last_sequence: lastSequence }: PublishedSubject,
  progress: Progress,
): Promise<number> {
  const between = (above: number, below: number, rows: number): Promise<unknown[]> =>
    statements.unpublish(database, [subject, epoch, above, below, rows]);
  if (epoch !== progress.epoch) {
    return inChunks(outboxStepRowsMax, (rows) => between(-1, sequenceMax, rows), signal);
  }
  let unpublished = 0;
  if (lastSequence > progress.lastSequence) {
    unpublished += (await between(progress.lastSequence, sequenceMax, lostRowsMax)).length;
  }
  const takenUpTo = progress.takenUpTo.get(subject);
  if (takenUpTo !== undefined) {
    unpublished += await inChunks(
      outboxStepRowsMax,
      (rows) => between(takenUpTo, progress.firstSequence, rows),
      signal,
    );
  }
  return unpublished;
}
