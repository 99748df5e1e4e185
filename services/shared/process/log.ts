/** The log: JSON lines on standard output, with secrets and personal data left out. */
import { Code, ConnectError } from "@connectrpc/connect";
import { pino, type Logger } from "pino";
import { isDatabaseAway } from "../database/failures.ts";

/** Where a component writes its lines. */
export type Log = Logger;

/** Fields that are never written, wherever in the first two levels they stand. */
const redactedFields = [
  "authorization",
  "cookie",
  "secret",
  "password",
  "token",
  "attributes",
  "properties",
  "identifier",
  "identifiers",
  "email",
  "phone",
  "value",
  "parameters",
];

/**
 * Makes the log of a process.
 * @param level pino's name of the lowest level that is written.
 * @param destination a file descriptor; standard output unless given.
 */
export function createLog(name: string, level: string, destination = 1): Log {
  return pino(
    {
      name,
      level,
      serializers: { err: describeError },
      redact: {
        paths: redactedFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
        censor: "[redacted]",
      },
    },
    // Synchronous, so that the last lines before a crash are there.
    pino.destination({ dest: destination, sync: true }),
  );
}

/** What of an error is written: a choice of fields, as a database's error also carries its connection, its statement and the values in it. */
interface ErrorDescription {
  type: string;
  message: string;
  /** Left out where something else is away: it says nothing then, and each request logs one. */
  stack?: string | undefined;
  /** Of Node, PostgreSQL or ours. */
  code?: string;
  constraint?: string;
  cause?: ErrorDescription;
}

const causesMax = 5;
const outageCodes: ReadonlySet<Code> = new Set([Code.Unavailable, Code.DeadlineExceeded, Code.Canceled]);

/** Whether an error, or what caused it, says that a connection could not be made or was lost. */
function isOutage(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > causesMax) return false;
  if (isDatabaseAway(error) || (error instanceof ConnectError && outageCodes.has(error.code))) return true;
  return isOutage(error.cause, depth + 1);
}

function describeError(error: unknown, depth = 0): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: "not an error" };
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  return {
    type: error.constructor.name,
    message: error.message,
    ...(isOutage(error) ? {} : { stack: error.stack }),
    ...(typeof code === "string" ? { code } : {}),
    ...(typeof constraint === "string" ? { constraint } : {}),
    ...(error.cause !== undefined && depth < causesMax ? { cause: describeError(error.cause, depth + 1) } : {}),
  };
}
