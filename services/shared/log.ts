/** The log: JSON lines on standard output, with secrets and personal data left out. */
import { pino, type Logger } from "pino";

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
  // Details of PostgreSQL's and Node's errors that quote the values of a row.
  "detail",
  "where",
  "internalQuery",
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
      redact: {
        paths: redactedFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
        censor: "[redacted]",
      },
    },
    // Synchronous, so that the last lines before a crash are there.
    pino.destination({ dest: destination, sync: true }),
  );
}
