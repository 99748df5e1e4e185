/**
 * Records what became of attempts, many in one statement. Results wait a moment for others of their property. A crash
 * loses those that wait, and their messages are sent again under the same id.
 */
import type { Database } from "#shared/database/postgres.ts";
import type { Log } from "#shared/process/log.ts";
import type { Clock } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import { cancelEmptied, giveBack, recordResults, type ResultRow } from "../sql/deliveries.ts";

export interface Recorder {
  record(property: Uuid, result: ResultRow): void;
  /** Makes deliveries due that will not be sent by this process. */
  giveBack(property: Uuid, ids: readonly Uuid[]): void;
  /** Cancels deliveries whose message was emptied. */
  cancel(property: Uuid, ids: readonly Uuid[]): void;
  /** Whether there is room for more results. */
  readonly hasRoom: boolean;
  /** Writes what waits. Gives up on what the database does not take. */
  drain(): Promise<void>;
}

/** What waits to be written of a property. */
interface Page {
  results: ResultRow[];
  back: Uuid[];
  emptied: Uuid[];
}

const paceMs = 100;
const retryMs = 1_000;
const rowsMax = 500;
const flushesMax = 2;
const waitingMax = 5_000;

/** Makes a recorder. @param onRoom is called when there is room again. */
export function createRecorder(
  { database, clock, log }: { database: Database; clock: Clock; log: Log },
  onRoom: () => void,
): Recorder {
  const pages = new Map<Uuid, Page>();
  let waiting = 0;
  let flushes = 0;
  let timer: NodeJS.Timeout | undefined;
  let isDraining = false;
  let wasFull = false;
  const idle: (() => void)[] = [];

  function pageOf(property: Uuid): Page {
    let page = pages.get(property);
    if (!page) pages.set(property, (page = { results: [], back: [], emptied: [] }));
    schedule(paceMs);
    return page;
  }

  function schedule(delayMs: number): void {
    timer ??= setTimeout(flushAll, isDraining ? 0 : delayMs);
  }

  async function write(property: Uuid, { results, back, emptied }: Page): Promise<void> {
    const now = formatMicros(clock.nowMicros());
    while (results.length > 0) {
      const some = results.slice(0, rowsMax);
      await recordResults(database, [property, now, some]);
      results.splice(0, some.length);
      waiting -= some.length;
    }
    if (back.length > 0) await giveBack(database, [property, back, now]);
    if (emptied.length > 0) await cancelEmptied(database, [property, emptied, now]);
  }

  async function flush(property: Uuid, page: Page): Promise<void> {
    flushes++;
    try {
      await write(property, page);
    } catch (error) {
      log.warn({ err: error, results: page.results.length }, "results of webhooks cannot be recorded");
      // What is leased comes again by itself; results are kept for another try.
      if (isDraining) waiting -= page.results.length;
      else if (page.results.length > 0) pageOf(property).results.unshift(...page.results);
      schedule(retryMs);
    } finally {
      flushes--;
      if (wasFull && waiting < waitingMax) {
        wasFull = false;
        onRoom();
      }
      if (pages.size === 0 && flushes === 0) for (const resolve of idle.splice(0)) resolve();
      else if (pages.size > 0) schedule(paceMs);
    }
  }

  function flushAll(): void {
    timer = undefined;
    for (const [property, page] of pages) {
      if (flushes >= flushesMax) break;
      pages.delete(property);
      void flush(property, page);
    }
  }

  return {
    record(property, result) {
      waiting++;
      wasFull ||= waiting >= waitingMax;
      pageOf(property).results.push(result);
    },
    giveBack: (property, ids) => void (ids.length > 0 && pageOf(property).back.push(...ids)),
    cancel: (property, ids) => void (ids.length > 0 && pageOf(property).emptied.push(...ids)),
    get hasRoom() {
      return waiting < waitingMax;
    },
    async drain() {
      isDraining = true;
      clearTimeout(timer);
      flushAll();
      if (pages.size > 0 || flushes > 0) await new Promise<void>((resolve) => idle.push(resolve));
      clearTimeout(timer);
    },
  };
}
