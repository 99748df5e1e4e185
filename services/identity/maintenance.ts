/** Periodic work of the identity service. */
import { inChunks } from "#shared/database/postgres.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { formatMicros } from "#shared/values/time.ts";
import { lowestUuidAt } from "#shared/values/ids.ts";
import { forgetAfterMicros } from "./domain/attempts.ts";
import { windowsOverBefore } from "./domain/windows.ts";
import { keptForMicros } from "./members/audit.ts";
import { openSinceInstants } from "./members/sessions.ts";
import { deleteOldAudit } from "./sql/audit.ts";
import { deleteExpiredLinks } from "./sql/member-links.ts";
import { deleteEndedSessions } from "./sql/member-sessions.ts";
import { deleteExpiredArtifacts } from "./sql/oauth-artifacts.ts";
import { deleteExpiredOperations } from "./sql/operations.ts";
import { deleteOldAttempts } from "./sql/password-attempts.ts";
import { deleteRateWindows } from "./sql/rate-windows.ts";

/** Interval of deleting. */
export const forgetIntervalMs = 60 * 1000;
const rowsMax = 5_000;

/**
 * Deletes what is over: rate windows, Idempotency-Keys, codes and tokens, links, sessions, attempts at passwords, and
 * old audit.
 */
export async function forget({ database, clock }: ServiceContext, signal?: AbortSignal): Promise<void> {
  const now = clock.nowMicros();
  const before = formatMicros(windowsOverBefore(now));
  await inChunks(rowsMax, (rows) => deleteRateWindows(database, [before, rows]), signal);
  await inChunks(rowsMax, (rows) => deleteExpiredOperations(database, [formatMicros(now), rows]), signal);
  await inChunks(rowsMax, (rows) => deleteExpiredArtifacts(database, [formatMicros(now), rows]), signal);
  await deleteExpiredLinks(database, [formatMicros(now)]);
  await inChunks(rowsMax, (rows) => deleteEndedSessions(database, [...openSinceInstants(now), rows]), signal);
  const attemptedBefore = formatMicros(now - forgetAfterMicros);
  await inChunks(rowsMax, (rows) => deleteOldAttempts(database, [attemptedBefore, formatMicros(now), rows]), signal);
  const auditBefore = lowestUuidAt(Math.floor((now - keptForMicros) / 1000));
  await inChunks(rowsMax, (rows) => deleteOldAudit(database, [auditBefore, rows]), signal);
}
