/** Cancels statements by PostgreSQL's cancel request, over a new connection that takes no connection slot. */
import pg from "pg";

/** Fields of a pg client that its types leave out. */
interface Internals {
  processID: number;
  secretKey: number | Buffer;
  host: string;
  port: number;
  connectionParameters: { ssl: pg.ConnectionConfig["ssl"]; sslnegotiation?: string };
}

/** Methods of pg's Connection that its types leave out. */
interface CancelConnection {
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number | Buffer): void;
}

const cancelTimeoutMs = 2_000;

/**
 * Cancels the running statement of a client, if any. Resolves when the server has signalled the session. A session
 * ignores the signal between two statements, so a later statement is never cancelled.
 * See https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS.
 * @throws Error when the server cannot be reached in time; the cancel may then hit a later statement.
 */
export async function cancelStatement(client: pg.PoolClient): Promise<void> {
  const { processID, secretKey, host, port, connectionParameters } = client as unknown as Internals;
  const { ssl, sslnegotiation } = connectionParameters;
  const config = { ssl, sslNegotiation: sslnegotiation } as pg.ConnectionConfig;
  const connection = new pg.Connection(config) as pg.Connection & CancelConnection;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let isSent = false;
  const send = (): void => {
    isSent = true;
    connection.cancel(processID, secretKey);
  };
  connection.once("connect", () => {
    if (!ssl) send();
    // Direct negotiation starts the handshake by itself.
    else if (sslnegotiation !== "direct") connection.requestSsl();
  });
  connection.once("sslconnect", send);
  // The server closes the connection when it is done; some servers reset it.
  connection.once("end", () => (isSent ? resolve() : reject(new Error("the connection to cancel by ended"))));
  connection.on("error", (error) => !isSent && reject(error));
  const timer = setTimeout(() => reject(new Error("the server did not take a cancel in time")), cancelTimeoutMs);
  if (host.startsWith("/")) connection.connect(`${host}/.s.PGSQL.${port}`);
  else connection.connect(port, host);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    connection.stream.destroy();
  }
}
