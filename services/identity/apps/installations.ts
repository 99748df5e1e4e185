/** Ends installations: their tokens go, and every gateway hears of it. */
import type { Signals } from "#shared/bus/signals.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { DaybookError } from "#shared/values/errors.ts";
import type { Uuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import { encodeCallerId } from "../callers.ts";
import { signalEnding } from "../caller-ending.ts";
import type { IdentityContext } from "../context.ts";
import { endGrant, type EndedRow } from "../sql/installations.ts";
import { deleteArtifactsOfGrant } from "../sql/oauth-artifacts.ts";

export function noSuchInstallation(): DaybookError {
  return new DaybookError("resource_not_found", "There is no such installation.", { param: "installation_id" });
}

/** Tells gateways that the tokens of installations have ended. Call this after the change is committed. */
export function signalEnded(signals: Signals, ended: readonly Pick<EndedRow, "id">[]): void {
  for (const { id } of ended) signalEnding(signals, encodeCallerId("inst", id));
}

/** Ends the installation of a grant. One that has ended, or has another grant by now, stays as it is. */
export async function endOfGrant(
  { database, clock, signals }: IdentityContext,
  grantId: Uuid,
  reason: "app" | "token_reuse",
): Promise<void> {
  const now = formatMicros(clock.nowMicros());
  const ended = await withTransaction(database, async (tx) => {
    const rows = await endGrant(tx, [grantId, reason, now]);
    if (rows.length > 0) await deleteArtifactsOfGrant(tx, [grantId]);
    return rows;
  });
  signalEnded(signals, ended);
}
