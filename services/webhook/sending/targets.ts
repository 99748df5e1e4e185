/** Reads endpoints as sending needs them: with their secrets and headers open. */
import type { Database } from "#shared/database/postgres.ts";
import type { Log } from "#shared/process/log.ts";
import type { Clock, Micros } from "#shared/values/clock.ts";
import { encodeId, type Uuid } from "#shared/values/ids.ts";
import type { Sealing } from "#shared/values/sealing.ts";
import type { Target } from "../egress/attempt.ts";
import { openAppSecret, openHeaders, openSecret } from "../secrets.ts";
import { readAppSecrets, readSending, type AppSecretRow, type SendingRow } from "../sql/health.ts";

/** An endpoint as it was at the last look. */
export interface EndpointState {
  isEnabled: boolean;
  /** Undefined while its secret cannot be opened. */
  target: Target | undefined;
  ratePerSecond: number | null;
  /** Since its last success, in all processes. */
  failures: number;
  lastSuccessAt: Micros | null;
  /** The breaker is open until then, and half-open afterwards; null while it is closed. */
  pausedUntil: Micros | null;
  /** How often messages of its property were emptied. */
  emptiedCount: number;
}

interface TargetContext {
  database: Database;
  sealing: Sealing;
  clock: Clock;
  log: Log;
}

/** Reads endpoints by id. Those that are gone are left out. */
export async function readStates(
  context: TargetContext,
  endpoints: readonly { property: Uuid; id: Uuid }[],
): Promise<Map<Uuid, EndpointState>> {
  const ids = endpoints.map(({ id }) => id);
  const rows = await readSending(context.database, [endpoints.map(({ property }) => property), ids]);
  const apps = [...new Set(rows.flatMap(({ app_id: app }) => app ?? []))];
  const secrets = apps.length === 0 ? [] : await readAppSecrets(context.database, [apps]);
  const secretOfApp = new Map(secrets.map((row) => [row.app_id, row]));
  return new Map(
    rows.map((row) => [
      row.id,
      {
        isEnabled: row.status === "enabled",
        target: openTarget(context, row, row.app_id === null ? undefined : secretOfApp.get(row.app_id)),
        ratePerSecond: row.rate_limit_per_second,
        failures: row.failures ?? 0,
        lastSuccessAt: row.last_success_at,
        pausedUntil: row.paused_until,
        emptiedCount: row.emptied_count,
      },
    ]),
  );
}

function openTarget(
  { sealing, clock, log }: TargetContext,
  row: SendingRow,
  appSecret: AppSecretRow | undefined,
): Target | undefined {
  const { id: endpointId, url, app_id: app } = row;
  const open = (sealed: Buffer): string =>
    app === null ? openSecret(sealing, endpointId, sealed) : openAppSecret(sealing, app, sealed);
  const { secret, previous_secret: previous, previous_secret_until: until } = appSecret ?? row;
  try {
    if (secret === null) throw new Error("the app has no secret");
    const isRotating = previous !== null && until !== null && until > clock.nowMicros();
    const secrets = [open(secret), ...(isRotating ? [open(previous)] : [])];
    return { endpointId, url, secrets, headers: openHeaders(sealing, endpointId, row.headers) };
  } catch (error) {
    log.error({ err: error, endpoint: encodeId("hook", endpointId) }, "messages to an endpoint cannot be signed");
    return undefined;
  }
}
