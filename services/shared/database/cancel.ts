/** Cancels what a connection is at, by the request that PostgreSQL has for it: over a connection of its own, which needs no slot of the server. */
import pg from "pg";

/** What a client of pg knows of its own connection; the types of pg leave it out. */
interface Internals {
  processID: number;
  secretKey: number | Buffer;
  host: string;
  port: number;
  connectionParameters: { ssl: pg.ConnectionConfig["ssl"]; sslnegotiation?: string };
}

/** The part of pg's Connection that its types leave out. */
interface CancelConnection {
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number | Buffer): void;
}

const cancelTimeoutMs = 2_000;

/**
 * Cancels the statement of a client, if it is at one. Resolves when the server has passed the request on: by then the session has been told, and
 * one that is between two statements takes no notice, so a later statement is never hit.
 * See https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS.
 * @throws Error when the server cannot be reached in time; a late cancel may then still hit what the session does next.
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
    // With direct negotiation the handshake begins by itself.
    else if (sslnegotiation !== "direct") connection.requestSsl();
  });
  connection.once("sslconnect", send);
  // The server closes the connection when it is done, and some reset it.
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
