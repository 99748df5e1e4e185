/** Batches that were counted, and writes that were done: see services/shared/once/sql.ts. */
import { operationStatements } from "#shared/once/sql.ts";

export const operations = operationStatements("metric");
