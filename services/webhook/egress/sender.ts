/** Sends messages to endpoints: one request and one answer, within limits of time and size. */
import type { Clock } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Closable } from "#shared/process/lifecycle.ts";
import { signedHeaders } from "../domain/signing.ts";
import { readRetryAfter } from "../domain/retries.ts";
import type { AttemptError, AttemptResult, SendRequest } from "./attempt.ts";
import { ConnectFailure, createConnector } from "./connect.ts";
import { AnswerFailure, createConnection, StaleConnection, type Answer, type Connection } from "./connection.ts";
import { createLookup, type Lookup } from "./lookup.ts";
import type { Networks } from "./networks.ts";

export interface Sender extends Closable {
  /** Sends a message once. Never rejects. */
  sendOnce(request: SendRequest): Promise<AttemptResult>;
  /** Closes the connections of an endpoint: the idle ones now, the others after their answer. */
  forget(endpointId: Uuid): void;
}

export interface SenderOptions {
  networks: Networks;
  clock: Clock;
  /** How names are looked up. */
  lookup?: Lookup;
  connectTimeoutMs?: number;
  /** For all of an attempt. */
  attemptTimeoutMs?: number;
}

const connectTimeoutMsDefault = 5_000;
export const attemptTimeoutMsDefault = 15_000;
const excerptLengthMax = 1_024;
const idlePerEndpointMax = 32;
const idleMax = 1_024;

/** The connections of an endpoint to one origin. */
interface Pool {
  origin: string;
  idle: Set<Connection>;
}

/** Makes the sender of a process. */
export function createSender(options: SenderOptions): Sender {
  const { networks, clock, lookup = createLookup() } = options;
  const { connectTimeoutMs = connectTimeoutMsDefault, attemptTimeoutMs = attemptTimeoutMsDefault } = options;
  const connector = createConnector({ networks, lookup, connectTimeoutMs });
  const pools = new Map<Uuid, Pool>();
  const busy = new Set<Connection>();
  let idle = 0;
  let isClosed = false;

  function poolOf(endpoint: Uuid, origin: string): Pool {
    const known = pools.get(endpoint);
    if (known?.origin === origin) return known;
    forget(endpoint);
    const pool = { origin, idle: new Set<Connection>() };
    pools.set(endpoint, pool);
    return pool;
  }

  /** An idle connection, if one may be reused, else a new one. */
  function take(endpoint: Uuid, pool: Pool, mayReuse: boolean): Connection {
    // The one that was used last: the others become idle for long, and are closed.
    const last = mayReuse ? [...pool.idle].at(-1) : undefined;
    if (last && pool.idle.delete(last)) idle--;
    const connection =
      last ??
      createConnection(pool.origin, connector, () => {
        busy.delete(connection);
        if (pool.idle.delete(connection)) idle--;
        if (pool.idle.size === 0 && pools.get(endpoint) === pool) pools.delete(endpoint);
      });
    busy.add(connection);
    return connection;
  }

  function giveBack(endpoint: Uuid, pool: Pool, connection: Connection): void {
    busy.delete(connection);
    if (!connection.isOpen) return;
    if (!pools.has(endpoint)) pools.set(endpoint, pool);
    const isKept = pools.get(endpoint) === pool && pool.idle.size < idlePerEndpointMax && idle < idleMax;
    if (!isKept || isClosed) return connection.destroy();
    pool.idle.add(connection);
    idle++;
  }

  function forget(endpoint: Uuid): void {
    const pool = pools.get(endpoint);
    pools.delete(endpoint);
    for (const connection of pool?.idle ?? []) connection.destroy();
  }

  async function exchange({ target, messageId, body, attempt }: SendRequest, signal: AbortSignal): Promise<Answer> {
    const url = new URL(target.url);
    const timestamp = Math.floor(clock.nowMicros() / 1_000_000);
    const own = Object.fromEntries(target.headers.map(({ name, value }) => [name, value]));
    const headers = { ...own, ...signedHeaders({ messageId, attempt, timestamp, body, secrets: target.secrets }) };
    for (let mayReuse = true; ; mayReuse = false) {
      const pool = poolOf(target.endpointId, url.origin);
      const connection = take(target.endpointId, pool, mayReuse);
      try {
        const answer = await connection.exchange({ path: url.pathname + url.search, headers, body, signal });
        giveBack(target.endpointId, pool, connection);
        return answer;
      } catch (error) {
        connection.destroy();
        // Nothing of an answer came, so the message goes again over a new connection.
        if (!(error instanceof StaleConnection) || !mayReuse) throw error;
      }
    }
  }

  return {
    async sendOnce(request) {
      const startedAt = clock.nowMicros();
      const startedMs = performance.now();
      const late = new ConnectFailure("timeout", `no answer within ${attemptTimeoutMs} ms`);
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(late), attemptTimeoutMs);
      const resultOf = (rest: Partial<AttemptResult>): AttemptResult => {
        const durationMs = Math.round(performance.now() - startedMs);
        return { startedAt, durationMs, status: null, error: null, excerpt: "", retryAfterSeconds: null, ...rest };
      };
      try {
        const answer = await exchange(request, deadline.signal);
        const { status, isCut } = answer;
        const isSuccess = status >= 200 && status < 300;
        if (isSuccess && !isCut) return resultOf({ status });
        const error = isSuccess ? "body_too_large" : "http_status";
        const retryAfterSeconds = readRetryAfter(answer.retryAfter, clock.nowMicros());
        return resultOf({ status, error, excerpt: excerptOf(answer), retryAfterSeconds });
      } catch (error) {
        return resultOf({ error: errorOf(error) });
      } finally {
        clearTimeout(timer);
      }
    },
    forget,
    close() {
      isClosed = true;
      for (const endpoint of pools.keys()) forget(endpoint);
      for (const connection of busy) connection.destroy();
      return Promise.resolve();
    },
  };
}

function errorOf(error: unknown): AttemptError {
  if (error instanceof ConnectFailure) return error.kind;
  return error instanceof AnswerFailure ? "body_too_large" : "connection_refused";
}

/** The first characters of a failed answer. One that is compressed has none: nothing is decompressed. */
function excerptOf({ beginning, isEncoded }: Answer): string {
  if (isEncoded) return "";
  // PostgreSQL stores no NUL, and a half of a pair is no character.
  const text = new TextDecoder().decode(beginning).replaceAll(/[^\P{Cc}\t\n\r]/gu, "\ufffd");
  return text.slice(0, excerptLengthMax).toWellFormed();
}
