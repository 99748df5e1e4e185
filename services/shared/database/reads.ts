/**
 * Reads have a pool of their own, which properties share fairly. So neither many reads nor a slow one delays a write,
 * or a read of another property. A statement is cancelled when its caller has gone.
 */
import { availableParallelism } from "node:os";
import { pause } from "../scheduling/pause.ts";
import { checkServer } from "./check.ts";
import { cancelStatement } from "./cancel.ts";
import { DaybookError } from "../values/errors.ts";
import { createFairShare, type FairShare } from "../scheduling/fair-share.ts";
import type { Log } from "../process/log.ts";
import { openDatabase, type Database, type Queryable, type Transaction } from "./postgres.ts";

export interface Reads {
  readonly connectionsMax: number;
  /**
   * Reads on behalf of a property.
   * @param signal aborted when the caller has gone. The running statement then fails with the signal's reason.
   */
  of(property: string, signal?: AbortSignal): Reader;
}

/** Runs the statements of one read. */
export interface Reader extends Queryable {
  /** Runs `work` on one snapshot of the database (REPEATABLE READ). */
  inSnapshot<T>(work: (snapshot: Queryable) => Promise<T>): Promise<T>;
}

const waitingMax = 2_000;
const waitingPerPropertyMax = 200;
// Half of the timeout of a call.
const waitMsMax = 5_000;
// A cancel that arrives before its statement has no effect, so it is repeated until the statement ends.
const cancelAgainMs = 200;
// Longer than the 10 s of an ordinary call. It ends the statements of a killed process.
const statementTimeoutMs = 15_000;

/** Shares a pool that nothing else uses. A property has at most half of the connections, rounded up. */
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
      // The database would only say that the statement was cancelled.
      signal?.throwIfAborted();
      throw error;
    } finally {
      done.abort();
      signal?.removeEventListener("abort", abort);
      // A cancel may still be under way to this connection. After a failed cancel the pool discards the connection.
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
              // The pool discards a connection that stays in a transaction.
              await connection.query("ROLLBACK").catch(spoil);
            }
          }),
      };
    },
  };
}

/** @param spoil makes the pool discard the connection. */
type Work<T> = (connection: Transaction, spoil: (error: Error) => void) => Promise<T>;

// Each keeps one processor of the database busy. This machine's processors stand for the database's, which are unknown.
const aggregatesPerPropertyMax = Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2)));
const aggregatesWaitingMax = 500;
const aggregatesWaitingPerPropertyMax = 50;

/** Limits aggregates to half of the read connections, at least one, so that short reads need not wait for them. */
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

/** The error of a request beyond the fair share of a property. */
export function overShare(message: string): DaybookError {
  return new DaybookError("rate_limited", `${message} Try again in a second.`, { retryAfterMs: overShareRetryMs });
}

const overShareRetryMs = 1_000;

export interface Connections {
  /** For writes and background work. */
  writes: number;
  reads: number;
}

const readsShare = 0.4;

/** Divides the connections of a process between writes and reads. */
export function divideConnections(connectionsMax: number): Connections {
  const reads = Math.max(1, Math.floor(connectionsMax * readsShare));
  return { writes: connectionsMax - reads, reads };
}

export interface ServiceDatabase {
  database: Database;
  reads: Reads;
  /** Checks the server's settings. @throws Error that says which has to change. */
  check(): Promise<void>;
  end(): Promise<void>;
}

/** Opens the pools of a service. They connect at first use. */
export function openServiceDatabase(options: {
  url: string;
  name: string;
  connections: Connections;
  /** A pooler in transaction mode stands between. */
  hasPooler?: boolean;
  log: Log;
}): ServiceDatabase {
  const { url, name, connections, hasPooler = false, log } = options;
  const database = openDatabase({
    url,
    applicationName: `daybook-${name}`,
    connectionsMax: connections.writes,
    hasPooler,
    log,
  });
  const forReads = openDatabase({
    url,
    applicationName: `daybook-${name}-reads`,
    connectionsMax: connections.reads,
    statementTimeoutMs,
    hasPooler,
    log,
  });
  return {
    database,
    reads: createReads(forReads, log),
    check: () => checkServer(database, { connectionsMax: connections.writes + connections.reads, hasPooler, log }),
    async end() {
      await Promise.all([database.end(), forReads.end()]);
    },
  };
}
