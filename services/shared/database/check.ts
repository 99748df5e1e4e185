/** What a service checks of its server at the start, so that a wrong setting is found then and not under load. */
import type { Log } from "../process/log.ts";
import { statementTimeoutDefaultMs, type Database } from "./postgres.ts";

interface ServerRow {
  statement_timeout_ms: number;
  idle_timeout_ms: number;
  usable: number;
  used: number;
}

// reserved_connections came with PostgreSQL 16. Values of pg_settings are in the setting's own unit, milliseconds.
const serverQuery = `
  SELECT (SELECT setting::int FROM pg_settings WHERE name = 'statement_timeout') AS statement_timeout_ms,
         (SELECT setting::int FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout') AS idle_timeout_ms,
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
           - coalesce(current_setting('reserved_connections', true)::int, 0) AS usable,
         (SELECT count(*)::int FROM pg_stat_activity
          WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS used`;

/**
 * Checks the timeouts of a pool, and that the connections of a process fit into the server.
 * @throws Error that says which setting has to change.
 */
export async function checkServer(
  database: Database,
  { connectionsMax, hasPooler, log }: { connectionsMax: number; hasPooler: boolean; log: Log },
): Promise<void> {
  const [server] = await readServer(database);
  if (!server) throw new Error("the server did not say how it is set");
  checkTimeouts(server, hasPooler, log);
  // A pooler has limits of its own, and the server's connections are the pooler's.
  if (!hasPooler) checkConnections(server, connectionsMax, log);
}

async function readServer(database: Database): Promise<ServerRow[]> {
  try {
    return (await database.query<ServerRow>(serverQuery)).rows;
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes("unsupported startup parameter")) throw error;
    const reason =
      "DATABASE_URL leads to a pooler that refuses start-up parameters; " +
      "set DATABASE_POOLER=transaction, and statement_timeout by ALTER ROLE";
    // Without the code of the cause, which says that the database is away.
    throw new Error(`${reason} (${error.message})`, { cause: error });
  }
}

/** The low watermark of events relies on a bound of each statement: an event is written by then, or never. */
function checkTimeouts(
  { statement_timeout_ms: timeoutMs, idle_timeout_ms: idleMs }: ServerRow,
  hasPooler: boolean,
  log: Log,
) {
  if (timeoutMs === 0 || timeoutMs > statementTimeoutDefaultMs) {
    const how = hasPooler
      ? "set it for the role: ALTER ROLE … SET statement_timeout = '30s'"
      : "what stands between ignores start-up parameters; set DATABASE_POOLER=transaction, and the timeout by ALTER ROLE";
    const message = `statement_timeout must be 1 to ${statementTimeoutDefaultMs} ms, and is ${timeoutMs} ms: ${how}`;
    throw new Error(message);
  }
  if (idleMs === 0) {
    log.warn("idle_in_transaction_session_timeout is 0: a process that hangs may hold locks for ever");
  }
}

function checkConnections({ usable, used }: ServerRow, own: number, log: Log): void {
  if (own > usable) {
    throw new Error(
      `this process may open ${own} connections, and PostgreSQL allows ${usable} in all: ` +
        "lower DATABASE_CONNECTIONS_MAX, or raise max_connections of the server",
    );
  }
  if (own + used > usable) {
    const message =
      "the connections of this process may not fit beside those of others: " +
      "lower DATABASE_CONNECTIONS_MAX, or raise max_connections of the server";
    log.warn({ own, used, usable }, message);
  }
}
