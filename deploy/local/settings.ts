/** The settings of `npm start`. */
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { readOptionalNatsSettings } from "#shared/bus/nats/settings.ts";
import { readOutboxBytesMax } from "#shared/outbox/room.ts";
import { readSettings, type SettingsReader } from "#shared/process/config.ts";
import { readPooler } from "#shared/process/service-process.ts";
import { readTracing } from "#shared/tracing/settings.ts";
import { readGatewaySettings } from "../../gateway/config.ts";
import { readEventSettings } from "../../services/event/config.ts";
import { readBootstrapKeys } from "../../services/identity/config.ts";
import { readProfileSettings } from "../../services/profile/config.ts";
import { readWebhookSettings } from "../../services/webhook/config.ts";

const workersMax = 64;

/** Reads WORKERS: how many processes share the port. */
function readWorkers(reader: SettingsReader): number {
  if (reader.optional("WORKERS") === "auto") return Math.min(workersMax, availableParallelism());
  return reader.integer("WORKERS", 1, 1, workersMax);
}

/** @throws ConfigError */
export function readLocalSettings(env: NodeJS.ProcessEnv) {
  return readSettings(env, (reader) => ({
    ...readGatewaySettings(reader),
    host: reader.text("HOST", "127.0.0.1"),
    dataDir: resolve(reader.text("DATA_DIR", ".daybook")),
    workers: readWorkers(reader),
    databaseUrl: reader.optionalUrl("DATABASE_URL", ["postgres:", "postgresql:"]),
    hasPooler: readPooler(reader),
    nats: readOptionalNatsSettings(reader),
    // Replicas over one database need the same. Alone, a process makes its own.
    internalToken: reader.optional("INTERNAL_TOKEN"),
    outboxBytesMax: readOutboxBytesMax(reader),
    bootstrapKeys: readBootstrapKeys(reader),
    profile: readProfileSettings(reader),
    event: readEventSettings(reader),
    webhook: readWebhookSettings(reader),
    tracing: readTracing(reader),
  }));
}

export type LocalSettings = ReturnType<typeof readLocalSettings>;
