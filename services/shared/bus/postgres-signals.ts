/**
 * Signals over NOTIFY of PostgreSQL, for processes that share a database and have no NATS. Neither a process start nor
 * a signal waits for the database: signals are lost while it is away.
 */
import pg from "pg";
import type { Registry } from "prom-client";
import type { Log } from "../process/log.ts";
import { pause } from "../scheduling/pause.ts";
import { newUuid } from "../values/ids.ts";
import { createLocalSignals, measureSignals, type Signals } from "./signals.ts";
import type { Signatures } from "./signatures.ts";

const channel = "daybook_signals";
const connectTimeoutMs = 5_000;
const reconnectDelayMs = 500;
// A dead connection is found when it does not answer this question.
const pingIntervalMs = 5_000;
const pingTimeoutMs = 5_000;
// Those beyond are lost, as if the connection was.
const waitingMax = 1_000;
// Of the payload, its signature and names; PostgreSQL allows 8,000.
const noticeCharsMax = 4_000;

/** Connects in the background until it is closed. The address must lead to PostgreSQL itself, not to a pooler. */
export function connectPostgresSignals({
  url,
  signatures,
  log,
  registry,
}: {
  url: string;
  /** Signs signals. Signals without its signature are dropped. */
  signatures: Signatures;
  log: Log;
  registry: Registry;
}): Signals {
  // Handlers in this process need no database.
  const local = createLocalSignals(log);
  // Of this connection's signals among all, which PostgreSQL sends to their sender too.
  const sender = newUuid();
  const subjects = new Set<string>();
  const closing = new AbortController();
  let connection: ((text: string, values?: string[]) => Promise<unknown>) | undefined;
  let isWarned = false;
  const { unsigned } = measureSignals(registry, "postgres", () => connection !== undefined);

  function hear(notice: string): void {
    if (notice.length > noticeCharsMax) return unsigned.inc();
    const [from = "", subject = "", signature = "", text = ""] = notice.split(" ");
    if (from === sender) return;
    const payload = Buffer.from(text, "base64");
    if (!signatures.isGood(subject, payload, signature)) return unsigned.inc();
    if (!subjects.has(subject)) return;
    try {
      local.publish(subject, payload);
    } catch (error) {
      log.warn({ err: error, subject }, "a signal was not taken");
    }
  }

  /** Listens until the connection breaks. @throws Error when it cannot be made, or broke. */
  async function listen(): Promise<void> {
    const client = new pg.Client({
      connectionString: url,
      application_name: "daybook-signals",
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: pingTimeoutMs,
      keepAlive: true,
    });
    const broken = Promise.withResolvers<never>();
    broken.promise.catch(() => undefined);
    client.on("error", broken.reject);
    client.on("end", () => broken.reject(new Error("the connection ended")));
    client.on("notification", ({ payload = "" }) => hear(payload));
    const end = (): void => broken.reject(new Error("closing"));
    closing.signal.addEventListener("abort", end, { once: true });
    let pinging: NodeJS.Timeout | undefined;
    try {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
      connection = inTurn(client);
      isWarned = false;
      pinging = setInterval(() => void connection?.("SELECT 1").catch(broken.reject), pingIntervalMs);
      await broken.promise;
    } finally {
      connection = undefined;
      clearInterval(pinging);
      closing.signal.removeEventListener("abort", end);
      await client.end().catch(() => undefined);
    }
  }

  async function keepListening(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await listen();
      } catch (error) {
        if (closing.signal.aborted) return;
        if (!isWarned) log.warn({ err: error }, "signals of other processes are not heard for now");
        isWarned = true;
      }
      await pause(reconnectDelayMs, closing.signal);
    }
  }

  const listening = keepListening();

  return {
    publish(subject, payload) {
      local.publish(subject, payload);
      const signature = signatures.make(subject, payload);
      const notice = `${sender} ${subject} ${signature} ${Buffer.from(payload).toString("base64")}`;
      connection?.("SELECT pg_notify($1, $2)", [channel, notice]).catch((error: unknown) =>
        log.warn({ err: error, subject }, "other processes do not hear a signal"),
      );
    },
    subscribe(subject, handler) {
      subjects.add(subject);
      local.subscribe(subject, handler);
    },
    async close() {
      closing.abort();
      await listening;
      await local.close();
    },
  };
}

/** Statements on a connection, which takes one at a time. */
function inTurn(client: pg.Client): (text: string, values?: string[]) => Promise<unknown> {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async (text, values = []) => {
    if (waiting >= waitingMax) throw new Error("too many signals wait for the database");
    waiting++;
    const before = last.catch(() => undefined);
    last = before.then(() => client.query(text, values)).finally(() => waiting--);
    return last;
  };
}
