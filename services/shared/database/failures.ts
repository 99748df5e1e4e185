/** Classification of PostgreSQL errors. */

/** Whether the database is away or overloaded, so that a retry may succeed. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === "string") {
    // Classes: 08 connection, 53 resources, 57 operator intervention (such as a timeout). 25P03: idle in transaction.
    return /^(08|53|57|25P03)/.test(code) || /^(ECONN|ENOTFOUND|ETIMEDOUT|EPIPE|EAI_AGAIN|ENOENT)/.test(code);
  }
  // pg gives these no code.
  return /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/.test(
    error.message,
  );
}

/** Whether a statement failed because another row has the same key. */
export function isUniqueViolation(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "23505";
}

/** Whether the server refused a statement that it does not support, or not for this table. */
export function isRefused(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === "0A000" || code === "55000";
}

/** Whether a deadlock or a serialization failure ended the statement, so that a retry may succeed. */
export function isTransient(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === "40P01" || code === "40001";
}

/** Whether a statement waited for a lock for longer than lock_timeout. */
export function isLockTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "55P03";
}
