/** PostgreSQL: pools, prepared statements and transactions. */
import pg from "pg";
import { parseDateTime } from "../values/time.ts";
import type { Log } from "../process/log.ts";
import type { Columns } from "./columns.ts";
import { isTransient } from "./failures.ts";

/** A pool of connections. */
export type Database = pg.Pool;

/** A connection within a transaction. */
export type Transaction = pg.PoolClient;

/** Where a statement runs: on any connection of a pool, in a transaction, or as a read of a property (see reads.ts). */
export interface Queryable {
  query(query: pg.QueryConfig): Promise<{ rows: object[] }>;
}

/** Limits of a pool. */
export interface DatabaseOptions {
  url: string;
  applicationName: string;
  connectionsMax: number;
  /** After which PostgreSQL gives up a statement by itself. */
  statementTimeoutMs?: number;
  log: Log;
}

const connectTimeoutMs = 5_000;
const statementTimeoutDefaultMs = 30_000;
const idleInTransactionTimeoutMs = 60_000;
const transactionAttemptsMax = 5;

/** Opens a pool. Connections are made when they are first needed. */
export function openDatabase({
  url,
  applicationName,
  connectionsMax,
  statementTimeoutMs = statementTimeoutDefaultMs,
  log,
}: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: applicationName,
    max: connectionsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    types: { getTypeParser: typeParser },
  });
  // A connection may break at a moment when neither the pool nor a query listens, or say so twice; without a listener that would end the
  // process. Whoever uses it learns of it by the statement that fails.
  pool.on("connect", (client) => client.on("error", () => undefined));
  // A connection that breaks while nobody uses it; the pool replaces it.
  pool.on("error", (error) => log.warn({ err: error }, "an idle database connection broke"));
  return pool;
}

/** A prepared statement: parsed and planned once for each connection. */
export interface Statement<Params extends readonly unknown[], Row> {
  (database: Queryable, values: Params): Promise<Row[]>;
}

type Scalar = string | number | boolean | null;

/** The columns of those parameters that are rows. */
type ColumnsOf<Params extends readonly unknown[]> = Params extends readonly [infer First, ...infer Rest]
  ? First extends readonly (infer Row extends object)[]
    ? Row extends Scalar
      ? ColumnsOf<Rest>
      : [Columns<Row>, ...ColumnsOf<Rest>]
    : ColumnsOf<Rest>
  : [];

/**
 * Declares a prepared statement, such as `statement<[property: Uuid, ids: readonly Uuid[]], EventRow>("event.events.read", …)`.
 * Parameters are `$1`, `$2` and so on. Rows stand behind all others, and take a parameter for each of their columns.
 * @param name unique in the process.
 * @param rows the columns of the rows, if it takes any.
 */
export function statement<Params extends readonly unknown[], Row = unknown>(
  name: string,
  text: string,
  ...rows: ColumnsOf<Params>
): Statement<Params, Row> {
  return (database, values) => run<Row>({ name, text }, database, spread(values, rows));
}

/** Declares a statement that is planned anew each time, by the values that it is given: for those whose best plan depends on them. */
export function plannedStatement<Params extends readonly unknown[], Row = unknown>(
  text: string,
): Statement<Params, Row> {
  return (database, values) => run<Row>({ text }, database, values);
}

/** The parameters as PostgreSQL takes them. */
function spread(values: readonly unknown[], rows: readonly Columns<never>[]): readonly unknown[] {
  if (rows.length === 0) return values;
  const others = values.slice(0, -rows.length);
  const some = values.slice(-rows.length) as never[][];
  return [...others, ...rows.flatMap((columns, index) => columns.values(some[index] ?? []))];
}

async function run<Row>(
  query: { name?: string; text: string },
  database: Queryable,
  values: readonly unknown[],
): Promise<Row[]> {
  const { rows } = await database.query({ ...query, values: values as unknown[] });
  return rows as Row[];
}

/**
 * Runs `work` in a transaction (READ COMMITTED). A deadlock or a serialization failure is retried unseen, so `work` must
 * have no effect outside the transaction.
 */
export async function withTransaction<T>(database: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const tx = await database.connect();
    let broken: Error | undefined;
    // One that broke is not given back to the pool.
    const noteBreak = (error: Error): void => {
      broken = error;
    };
    tx.on("error", noteBreak);
    try {
      await tx.query("BEGIN");
      const result = await work(tx);
      await tx.query("COMMIT");
      return result;
    } catch (error) {
      await tx.query("ROLLBACK").catch((rollbackError: Error) => (broken = rollbackError));
      if (attempt === transactionAttemptsMax || !isTransient(error)) throw error;
    } finally {
      tx.off("error", noteBreak);
      tx.release(broken);
    }
  }
}

/**
 * Runs a statement again and again that takes at most so many rows at a time, until it finds fewer: each holds its locks only briefly.
 * @param step gives the rows that it took.
 * @returns how many there were in all.
 */
export async function inChunks(
  rowsMax: number,
  step: (rowsMax: number) => Promise<readonly unknown[]>,
  signal?: AbortSignal,
): Promise<number> {
  let total = 0;
  for (;;) {
    if (signal?.aborted) return total;
    const { length } = await step(rowsMax);
    total += length;
    if (length < rowsMax) return total;
  }
}

const oid = { int8: 20, json: 114, timestamptz: 1184 } as const;

/** json stays text, so that nothing in it is changed; instants are microseconds; counts are numbers. */
function typeParser(type: number, format?: "text" | "binary"): (value: string) => unknown {
  if (format !== "binary") {
    if (type === oid.json) return (text) => text;
    if (type === oid.int8) return Number;
    if (type === oid.timestamptz) return (text) => parseDateTime(text.replace(" ", "T"));
  }
  const parse: (type: number, format?: "text" | "binary") => (value: string) => unknown = pg.types.getTypeParser;
  return parse(type, format);
}
