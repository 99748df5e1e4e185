/** PostgreSQL: pools, prepared statements and transactions. */
import pg from "pg";
import type { Uuid } from "../values/ids.ts";
import { parseDateTime } from "../values/time.ts";
import type { Log } from "../process/log.ts";
import type { Columns } from "./columns.ts";
import { isTransient } from "./failures.ts";
import { statementInSpan } from "../tracing/database.ts";
import { isTracing, traced } from "../tracing/spans.ts";

/** A pool of connections. */
export type Database = pg.Pool;

/** A connection that is in a transaction. */
export type Transaction = pg.PoolClient;

/** Runs a statement: a pool, a transaction, or a read of a property (see reads.ts). */
export interface Queryable {
  query(query: pg.QueryConfig): Promise<{ rows: object[] }>;
}

export interface DatabaseOptions {
  url: string;
  applicationName: string;
  connectionsMax: number;
  /** PostgreSQL cancels a statement after this time. */
  statementTimeoutMs?: number | undefined;
  /** A pooler stands between, which takes no start-up parameters: the role has the timeouts. */
  hasPooler?: boolean;
  log: Log;
}

const connectTimeoutMs = 5_000;
/** The most that a statement of a request may take; the event service relies on it. */
export const statementTimeoutDefaultMs = 30_000;
const idleInTransactionTimeoutMs = 60_000;
const transactionAttemptsMax = 5;

/** Opens a pool. Connections are made when they are first needed. */
export function openDatabase({
  url,
  applicationName,
  connectionsMax,
  statementTimeoutMs = statementTimeoutDefaultMs,
  hasPooler = false,
  log,
}: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: applicationName,
    max: connectionsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    ...(!hasPooler && {
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    }),
    types: { getTypeParser: typeParser },
  });
  // A connection may break when neither the pool nor a query listens, or emit two errors. An error without a listener
  // ends the process; the user of the connection sees its next statement fail.
  pool.on("connect", (client) => client.on("error", () => undefined));
  // The pool replaces an idle connection that breaks.
  pool.on("error", (error) => log.warn({ err: error }, "an idle database connection broke"));
  return pool;
}

/** A prepared statement, parsed once for each connection. */
export interface Statement<Params extends readonly unknown[], Row> {
  (database: Queryable, values: Params): Promise<Row[]>;
  readonly text: string;
}

type Scalar = string | number | boolean | null;

/** The columns of the parameters that are rows. */
type ColumnsOf<Params extends readonly unknown[]> = Params extends readonly [infer First, ...infer Rest]
  ? First extends readonly (infer Row extends object)[]
    ? Row extends Scalar
      ? ColumnsOf<Rest>
      : [Columns<Row>, ...ColumnsOf<Rest>]
    : ColumnsOf<Rest>
  : [];

/**
 * Declares a prepared statement: `statement<[property: Uuid, ids: readonly Uuid[]], EventRow>("event.events.read", …)`.
 * Parameters are `$1`, `$2` and so on. Rows come after all others, and take one parameter for each of their columns.
 * @param name unique in the process.
 * @param rows the columns of each parameter that is rows.
 */
export function statement<Params extends readonly unknown[], Row = unknown>(
  name: string,
  text: string,
  ...rows: ColumnsOf<Params>
): Statement<Params, Row> {
  const execute = (database: Queryable, values: Params): Promise<Row[]> =>
    run<Row>({ name, text }, database, spread(values, rows));
  return Object.assign(execute, { text });
}

/** Declares a statement that is planned each time, because its best plan depends on the values or the table's size. */
export function plannedStatement<Params extends readonly unknown[], Row = unknown>(
  text: string,
): Statement<Params, Row> {
  const execute = (database: Queryable, values: Params): Promise<Row[]> => run<Row>({ text }, database, values);
  return Object.assign(execute, { text });
}

function spread(values: readonly unknown[], rows: readonly Columns<never>[]): readonly unknown[] {
  if (rows.length === 0) return values;
  const others = values.slice(0, -rows.length);
  const rowLists = values.slice(-rows.length) as never[][];
  return [...others, ...rows.flatMap((columns, index) => columns.values(rowLists[index] ?? []))];
}

async function run<Row>(
  query: { name?: string; text: string },
  database: Queryable,
  values: readonly unknown[],
): Promise<Row[]> {
  const full = { ...query, values: values as unknown[] };
  const { rows } = isTracing() ? await statementInSpan(query, () => database.query(full)) : await database.query(full);
  return rows as Row[];
}

/**
 * Runs `work` in a transaction (READ COMMITTED). A deadlock or a serialization failure is retried, 5 attempts in all,
 * so `work` must have no effect outside the transaction.
 */
export function withTransaction<T>(database: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return isTracing() ? traced("transaction", () => transact(database, work)) : transact(database, work);
}

async function transact<T>(database: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const tx = await database.connect();
    let broken: Error | undefined;
    // The pool discards a broken connection.
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
 * Repeats a statement until it finds fewer than `rowsMax` rows, so that each run holds its locks briefly.
 * @param step returns the rows that it changed.
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

/**
 * The same for rows of many properties: they are changed property by property, because a transaction works on one
 * property. Also ends when nothing of a page could be changed, because other transactions hold its rows.
 * @param find returns the next rows to change.
 * @param change changes rows of one property, and returns those that it changed.
 */
export function inChunksByProperty<Row extends { property_id: Uuid }>(
  rowsMax: number,
  find: (rowsMax: number) => Promise<Row[]>,
  change: (property: Uuid, rows: Row[]) => Promise<readonly unknown[]>,
  signal?: AbortSignal,
): Promise<number> {
  return inChunks(
    rowsMax,
    async (rows) => {
      const page = await find(rows);
      const changed: unknown[] = [];
      for (const [property, some] of Map.groupBy(page, ({ property_id }) => property_id)) {
        changed.push(...(await change(property, some)));
      }
      return changed.length === 0 ? [] : page;
    },
    signal,
  );
}

const oid = { int8: 20, json: 114, timestamptz: 1184 } as const;

/** json stays unchanged text, timestamptz becomes microseconds, int8 a number. */
function typeParser(type: number, format?: "text" | "binary"): (value: string) => unknown {
  if (format !== "binary") {
    if (type === oid.json) return (text) => text;
    if (type === oid.int8) return Number;
    if (type === oid.timestamptz) return (text) => parseDateTime(text.replace(" ", "T"));
  }
  const parse: (type: number, format?: "text" | "binary") => (value: string) => unknown = pg.types.getTypeParser;
  return parse(type, format);
}
