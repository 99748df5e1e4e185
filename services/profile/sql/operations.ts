/** Writes that were done, and idempotency keys that were used: see services/shared/once/sql.ts. */
import { operationStatements } from "#shared/once/sql.ts";

export const operations = operationStatements("profile");
