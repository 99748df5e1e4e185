/**
 * What becomes of rows that are published: they stay until every consumer of their subject has taken them, so that a bus may lose its store at
 * any moment and be given it all again. What tells is the bus: up to which sequence everything was taken, in the stream that there is now.
 *
 * A row waits again, to be published under the same id,
 * - when it was published in another epoch of the stream: that one is lost, or another server is asked now;
 * - when its sequence is above the last of the stream: the server lost what it had not yet written to its disk;
 * - when its sequence is below the first of the stream and it was not taken: it grew older than the stream keeps messages.
 *
 * A subject without any consumer may have one that is not made yet, or was lost with its store a moment ago. So its rows stay for a day; then
 * they count as taken, as they would be kept for nobody. The stream has them for the rest of its 7 days all the same, and a consumer that is made
 * by then begins with them.
 */
import type { Bus, Progress } from "../bus/bus.ts";
import type { Log } from "../process/log.ts";
import { inChunks, type Database } from "../database/postgres.ts";
import { outboxStepRowsMax, type OutboxStatements, type PublishedSubject } from "./sql.ts";

/** How often it is looked what was taken. */
export const takenIntervalMs = 1_000;
const unclaimedAgeMaxSeconds = 24 * 60 * 60;
// What a server had not written to its disk: the rows of minutes. They go back in one statement, before the sequences are given anew.
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
 * Deletes the rows that were taken, and lets those wait again that the bus has lost. Without published rows it is one look into an index.
 * @returns how many wait again.
 * @throws BusAwayError
 */
export async function settleTaken(settling: Settling): Promise<{ unpublished: number }> {
  const { statements, database, bus, log } = settling;
  // Before the bus is asked: what is noted here it has, or had.
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
