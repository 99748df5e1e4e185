/** Lanes of the webhook service on a database of a test, with endpoints and deliveries. */
import { migrate } from "#shared/database/migrate.ts";
import { openDatabase, type Database } from "#shared/database/postgres.ts";
import type { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { systemClock, type Clock } from "#shared/values/clock.ts";
import { newUuid, type Uuid } from "#shared/values/ids.ts";
import { createSealing } from "#shared/values/sealing.ts";
import { formatMicros } from "#shared/values/time.ts";
import { newSecret } from "../../services/webhook/domain/signing.ts";
import { createNetworks } from "../../services/webhook/egress/networks.ts";
import { createSender } from "../../services/webhook/egress/sender.ts";
import { sealSecret } from "../../services/webhook/secrets.ts";
import { createLanes, type Lanes } from "../../services/webhook/sending/lanes.ts";
import { createSendingMetrics } from "../../services/webhook/sending/metrics.ts";
import type { LanesOptions } from "../../services/webhook/sending/options.ts";
import { disableEndpoint, insertEndpoint } from "../../services/webhook/sql/endpoints.ts";
import { storeMessages } from "../../services/webhook/sql/messages.ts";
import { addProperty } from "../../services/webhook/sql/properties.ts";

const sealing = createSealing("webhooks", "a token for the lanes of the tests");

/** An endpoint of a test. */
export interface TestEndpoint {
  property: Uuid;
  id: Uuid;
  secret: string;
}

export interface TestLanes extends Lanes {
  /** Why endpoints were disabled. */
  disabled: string[];
}

/** Opens a database with the schema of webhooks. */
export async function openWebhooks(url: string, owner: Owner): Promise<Database> {
  const database = openDatabase({ url, applicationName: "test", connectionsMax: 6, log: createLog("test", "silent") });
  owner.defer(() => database.end());
  await migrate(database, "webhook", "services/webhook/migrations");
  return database;
}

/** Starts lanes that send to this machine; `owner` closes them. */
export function startLanes(
  database: Database,
  owner: Owner,
  { clock = systemClock, ...options }: LanesOptions & { clock?: Clock } = {},
): TestLanes {
  const log = createLog("test", "warn");
  const { attemptTimeoutMs = 5_000 } = options;
  const networks = createNetworks(["127.0.0.0/8"]);
  const sender = createSender({ networks, clock, attemptTimeoutMs, connectTimeoutMs: attemptTimeoutMs });
  const disabled: string[] = [];
  const lanes = createLanes(
    {
      database,
      clock,
      log,
      sealing,
      sender,
      metrics: createSendingMetrics({ database, clock, registry: createRegistry() }),
      async disable(property, endpoint, reason) {
        const now = formatMicros(clock.nowMicros());
        if ((await disableEndpoint(database, [property, endpoint, reason, now])).length > 0) disabled.push(reason);
        lanes.refresh(endpoint);
      },
    },
    { leaseMs: 15_000, lookIntervalMs: 50, attemptTimeoutMs, ...options },
  );
  lanes.start();
  owner.own(lanes);
  return Object.assign(lanes, { disabled });
}

/** Makes an endpoint of a property of its own. */
export async function newEndpoint(
  database: Database,
  url: string,
  { property = newUuid(), rate = null as number | null } = {},
): Promise<TestEndpoint> {
  const [id, secret] = [newUuid(), newSecret()];
  const sealed = sealSecret(sealing, id, secret);
  const now = formatMicros(systemClock.nowMicros());
  await addProperty(database, [property, false]);
  await insertEndpoint(database, [
    ...([property, id, url, "", ["*"], [], [], [], null, rate, null] as const),
    ...(["2026-11-20", "test", null, null, sealed, now] as const),
  ]);
  return { property, id, secret };
}

/** Stores deliveries to an endpoint, and offers them to lanes if they are given. @returns their ids. */
export async function addDeliveries(
  database: Database,
  { property, id: endpoint }: TestEndpoint,
  count: number,
  { lanes, clock = systemClock, profile = null }: { lanes?: Lanes; clock?: Clock; profile?: Uuid | null } = {},
): Promise<Uuid[]> {
  const ids: Uuid[] = [];
  const revision = "2026-11-20";
  const trigger = "live";
  for (let left = count; left > 0; left -= 500) {
    const now = clock.nowMicros();
    const dueAt = lanes?.firstDueAt(property, endpoint, Math.min(left, 500)) ?? now;
    const messages = Array.from({ length: Math.min(left, 500) }, () => {
      const id = newUuid();
      return { id, revision, type: "test", event_id: null, profile_id: profile, body: JSON.stringify({ id }) };
    });
    const rows = messages.map(({ id: message_id, type }) => {
      return { id: newUuid(), endpoint_id: endpoint, message_id, revision, type, trigger, due_at: dueAt };
    });
    await storeMessages(database, [property, formatMicros(now), messages, rows]);
    lanes?.offer(
      rows.map(({ id, message_id: messageId }, index) => {
        return { property, endpoint, id, messageId, body: messages[index]?.body ?? "", dueAt };
      }),
    );
    ids.push(...rows.map(({ id }) => id));
  }
  return ids;
}

/** A delivery as it stands in the database. */
export interface DeliveryState {
  status: string;
  attempts: number;
  due_at: number | null;
  error: string | null;
  response_status: number | null;
  attempt_log: { error?: string; status?: number; excerpt?: string }[];
}

/** Reads the deliveries of an endpoint, the oldest first. */
export async function deliveriesOf(database: Database, { property, id }: TestEndpoint): Promise<DeliveryState[]> {
  const { rows } = await database.query<DeliveryState>(
    `SELECT status, attempts, due_at, error, response_status, attempt_log FROM webhook.deliveries
     WHERE property_id = $1 AND endpoint_id = $2 ORDER BY id`,
    [property, id],
  );
  return rows;
}
