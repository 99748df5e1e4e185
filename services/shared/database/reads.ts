/**
 * Reads, apart from writes: they have connections of their own, and properties share these fairly, so neither a flood of reads nor a slow one
 * keeps a write, or a read of another property, waiting. A statement that nobody waits for any more is cancelled.
 */
import { availableParallelism } from "node:os";
import { pause } from "../scheduling/pause.ts";
import { cancelStatement } from "./cancel.ts";
import { DaybookError } from "../values/errors.ts";
import { createFairShare, type FairShare } from "../scheduling/fair-share.ts";
import type { Log } from "../process/log.ts";
import { openDatabase, type Database, type Queryable, type Transaction } from "./postgres.ts";

/** The connections of a service for reading. */
export interface Reads {
  readonly connectionsMax: number;
  /**
   * Reads on behalf of a property.
   * @param signal that nobody waits for the answer any more. What is under way then is cancelled, and fails with the signal's reason.
   */
  of(property: string, signal?: AbortSignal): Reader;
}

/** Where the statements of one read run. */
export interface Reader extends Queryable {
  /** Runs `work` so that all of its statements see the database as it is at one moment. */
  inSnapshot<T>(work: (snapshot: Queryable) => Promise<T>): Promise<T>;
}

const waitingMax = 2_000;
const waitingPerPropertyMax = 200;
// Half of the time that a call has.
const waitMsMax = 5_000;
// A cancel that arrives before its statement does nothing, so it is repeated while the statement goes on.
const cancelAgainMs = 200;
// Longer than any call waits. It ends what a process leaves behind that is killed.
const statementTimeoutMs = 15_000;

/** Shares the connections of a pool, which nothing else uses. A property has at most half of them at a time. */
export function createReads(pool: Database, log: Log): Reads {
  const connectionsMax = pool.options.max;
  const share = createFairShare({
    slotsMax: connectionsMax,
    slotsPerKeyMax: Math.ceil(connectionsMax / 2),
    waitingMax,
    waitingPerKeyMax: waitingPerPropertyMax,
    waitMsMax,
    refusal: () => overShare("Too many reads of this property are waiting."),
  });

  async function onConnection<T>(signal: AbortSignal | undefined, work: Work<T>): Promise<T> {
    const connection = await pool.connect();
    let broken: Error | undefined;
    const spoil = (error: Error): void => {
      broken = error;
    };
    connection.on("error", spoil);
    const done = new AbortController();
    let cancelling: Promise<void> | undefined;
    const cancel = async (): Promise<void> => {
      try {
        while (!done.signal.aborted) {
          await cancelStatement(connection);
          await pause(cancelAgainMs, done.signal);
        }
      } catch (error) {
        log.warn({ err: error }, "a statement could not be cancelled");
        spoil(error as Error);
      }
    };
    const abort = (): void => {
      cancelling = cancel();
    };
    try {
      signal?.throwIfAborted();
      signal?.addEventListener("abort", abort, { once: true });
      return await work(connection, spoil);
    } catch (error) {
      // What the database says is only that it was cancelled.
      signal?.throwIfAborted();
      throw error;
    } finally {
      done.abort();
      signal?.removeEventListener("abort", abort);
      // Nobody else gets the connection while a cancel is on its way to it. One that may still come takes the connection with it.
      await cancelling;
      connection.off("error", spoil);
      connection.release(broken);
    }
  }

  return {
    connectionsMax,
    of(property, signal) {
      const use = <T>(work: Work<T>): Promise<T> => share.run(property, () => onConnection(signal, work), signal);
      return {
        query: (query) => use((connection) => connection.query(query)),
        inSnapshot: (work) =>
          use(async (connection, spoil) => {
            await connection.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
            try {
              return await work({
                query(query) {
                  signal?.throwIfAborted();
                  return connection.query(query);
                },
              });
            } finally {
              // Within a transaction it is of no use to anybody else.
              await connection.query("ROLLBACK").catch(spoil);
            }
          }),
      };
    },
  };
}

/** @param spoil says that the connection is not to be used again. */
type Work<T> = (connection: Transaction, spoil: (error: Error) => void) => Promise<T>;

// Each keeps one processor of the database busy. That machine is not known here; this one stands for the size of an installation.
const aggregatesPerPropertyMax = Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2)));
const aggregatesWaitingMax = 500;
const aggregatesWaitingPerPropertyMax = 50;

/** Shares what aggregates may take of the reads: half of the connections, so that what is read at once is never behind them. */
export function createAggregateShare({ connectionsMax }: Reads): FairShare {
  return createFairShare({
    slotsMax: Math.max(1, Math.floor(connectionsMax / 2)),
    slotsPerKeyMax: aggregatesPerPropertyMax,
    waitingMax: aggregatesWaitingMax,
    waitingPerKeyMax: aggregatesWaitingPerPropertyMax,
    waitMsMax,
    refusal: () =>
      overShare(
        `Aggregates of a property are counted ${aggregatesPerPropertyMax} at a time, and too many are waiting.`,
      ),
  });
}

/** The refusal of what would take more than the fair share of a property. */
export function overShare(message: string): DaybookError {
  return new DaybookError("rate_limited", `${message} Try again in a second.`, { retryAfterMs: overShareRetryMs });
}

const overShareRetryMs = 1_000;

/** How many connections a service opens. */
export interface Connections {
  /** For writes, and for what the service does by itself. */
  writes: number;
  reads: number;
}

const readsShare = 0.4;

/** Divides the connections of a process: some for reads, the most for writes. */
export function divideConnections(connectionsMax: number): Connections {
  const reads = Math.max(1, Math.floor(connectionsMax * readsShare));
  return { writes: connectionsMax - reads, reads };
}

/** The connections of a service, to be ended when it is closed. */
export interface ServiceDatabase {
  database: Database;
  reads: Reads;
  end(): Promise<void>;
}

/** Opens the pools of a service. Connections are made when they are first needed. */
export function openServiceDatabase(options: {
  url: string;
  name: string;
  connections: Connections;
  log: Log;
}): ServiceDatabase {
  const { url, name, connections, log } = options;
  const database = openDatabase({
    url,
    applicationName: `daybook-${name}`,
    connectionsMax: connections.writes,
    log,
  });
  const forReads = openDatabase({
    url,
    applicationName: `daybook-${name}-reads`,
    connectionsMax: connections.reads,
    statementTimeoutMs,
    log,
  });
  return {
    database,
    reads: createReads(forReads, log),
    async end() {
      await Promise.all([database.end(), forReads.end()]);
    },
  };
}
