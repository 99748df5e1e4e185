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
import { outboxStepRowsMax, type OutboxStatements } from "./sql.ts";

/** How often acknowledged rows are deleted. */
export const takenIntervalMs = 1_000;
const unclaimedAgeMaxSeconds = 24 * 60 * 60;
const sequenceMax = Number.MAX_SAFE_INTEGER;

/** The published rows of a subject in one epoch. */
interface PublishedSubject {
  subject: string;
  epoch: string;
  /** The highest sequence of the rows. */
  lastSequence: number;
}

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
  const { bus, log } = settling;
  // Read before the progress of the bus, which then covers all of these rows.
  const published = await findPublished(settling);
  if (published.length === 0) return { unpublished: 0 };
  const progress = await bus.progress();
  const current = published.filter(({ epoch }) => epoch === progress.epoch);
  await removeTaken(settling, current, progress);
  let unpublished = 0;
  for (const rows of published) unpublished += await unpublishLost(settling, rows, progress);
  if (unpublished > 0) log.warn({ rows: unpublished }, "the bus has lost messages, which are published again");
  return { unpublished };
}

/** Lists the subjects and epochs of published rows with two index lookups for each. */
async function findPublished({ statements, database }: Settling): Promise<PublishedSubject[]> {
  const published: PublishedSubject[] = [];
  let at = { subject: "", epoch: "" };
  for (;;) {
    const [next] = await statements.nextPublished(database, [at.subject, at.epoch]);
    if (!next) return published;
    at = next;
    const [last] = await statements.lastPublished(database, [next.subject, next.epoch]);
    // Without a row, all have been removed since.
    if (last) published.push({ ...next, lastSequence: last.sequence });
  }
}

async function removeTaken(
  settling: Settling,
  published: readonly PublishedSubject[],
  { epoch, takenUpTo }: Progress,
): Promise<void> {
  const { statements, database, bus, signal } = settling;
  for (const { subject } of published) {
    const upTo = takenUpTo.get(subject);
    if (upTo === undefined) {
      await removeUnclaimed(settling, subject, epoch);
      continue;
    }
    await inChunks(
      outboxStepRowsMax,
      async (rows) => {
        const page = await statements.pageBetween(database, [subject, epoch, -1, upTo + 1, rows]);
        if (page.length === 0) return page;
        const removed = await statements.removePublished(database, [subject, epoch, page.map(sequenceOf)]);
        await bus.forget(epoch, removed.map(sequenceOf));
        return page;
      },
      signal,
    );
  }
}

/** Deletes rows of a subject without consumers that are too old. While the first is younger, only that one is read. */
async function removeUnclaimed(settling: Settling, subject: string, epoch: string): Promise<void> {
  const { statements, database, signal } = settling;
  const older = (rows: number): Promise<{ sequence: number }[]> =>
    statements.pageOlder(database, [subject, epoch, unclaimedAgeMaxSeconds, rows]);
  if ((await older(1)).length === 0) return;
  await inChunks(
    outboxStepRowsMax,
    async (rows) => {
      const page = await older(rows);
      await statements.removePublished(database, [subject, epoch, page.map(sequenceOf)]);
      return page;
    },
    signal,
  );
}

async function unpublishLost(
  { statements, database, signal }: Settling,
  { subject, epoch, lastSequence }: PublishedSubject,
  progress: Progress,
): Promise<number> {
  let unpublished = 0;
  const unpublishBetween = (above: number, below: number): Promise<unknown> =>
    inChunks(
      outboxStepRowsMax,
      async (rows) => {
        const page = await statements.pageBetween(database, [subject, epoch, above, below, rows]);
        if (page.length === 0) return page;
        unpublished += (await statements.unpublish(database, [subject, epoch, page.map(sequenceOf)])).length;
        return page;
      },
      signal,
    );
  if (epoch !== progress.epoch) {
    await unpublishBetween(-1, sequenceMax);
    return unpublished;
  }
  if (lastSequence > progress.lastSequence) {
    // One statement, because new messages take these sequences: a part that a crash left would count as theirs.
    unpublished += (await statements.unpublishAbove(database, [subject, epoch, progress.lastSequence])).length;
  }
  const takenUpTo = progress.takenUpTo.get(subject);
  if (takenUpTo !== undefined) await unpublishBetween(takenUpTo, progress.firstSequence);
  return unpublished;
}

function sequenceOf({ sequence }: { sequence: number }): number {
  return sequence;
}
