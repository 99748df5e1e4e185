/** The log: JSON lines on standard output, without secrets and personal data. */
import { Code, ConnectError } from "@connectrpc/connect";
import { pino, type Logger } from "pino";
import { isDatabaseAway } from "../database/failures.ts";
import { activeTrace } from "../tracing/spans.ts";

export type Log = Logger;

/** Fields that are redacted in the first three levels of a line. */
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
 * @param level the lowest level that is written, by pino's name.
 * @param destination a file descriptor; standard output by default.
 */
export function createLog(name: string, level: string, destination = 1): Log {
  return pino(
    {
      name,
      level,
      serializers: { err: describeError },
      mixin: activeTrace,
      redact: {
        paths: redactedFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
        censor: "[redacted]",
      },
    },
    // Synchronous, so that the last lines before a crash are written.
    pino.destination({ dest: destination, sync: true }),
  );
}

/** The logged fields of an error: a database's error also carries its connection, its statement and the values. */
interface ErrorDescription {
  type: string;
  message: string;
  /** Left out during an outage: it says nothing then, and each request logs an error. */
  stack?: string | undefined;
  /** A code of Node, PostgreSQL or Daybook. */
  code?: string;
  constraint?: string;
  cause?: ErrorDescription;
}

const causesMax = 5;
const outageCodes: ReadonlySet<Code> = new Set([Code.Unavailable, Code.DeadlineExceeded, Code.Canceled]);

/** Whether an error or its cause says that a dependency is away. */
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
