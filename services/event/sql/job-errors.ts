/** Items that jobs of events refused. Instead of an item, the JSON text of its type is stored: no personal data. */
import { jobErrorStatements } from "#shared/jobs/sql.ts";

export const eventJobErrors = jobErrorStatements("event.job_errors");
