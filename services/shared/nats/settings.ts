/** The settings of a bus on NATS. */
import type { SettingsReader } from "../config.ts";

const replicasAllowed = ["1", "3", "5"];

/** How a NATS is reached, and how many of its servers keep a message. */
export interface NatsSettings {
  servers: string[];
  replicas?: number | undefined;
}

/** Reads NATS_URL, one or more addresses, and NATS_REPLICAS, which is to be the same for all processes of a mesh. */
export function readNatsSettings(reader: SettingsReader): NatsSettings {
  const settings = readOptionalNatsSettings(reader);
  if (!settings) reader.problem("NATS_URL must be set");
  return settings ?? { servers: [], replicas: undefined };
}

/** As readNatsSettings; undefined when NATS_URL is unset. */
export function readOptionalNatsSettings(reader: SettingsReader): NatsSettings | undefined {
  const servers = reader.optionalUrls("NATS_URL", ["nats:", "tls:"]);
  const replicas = reader.optional("NATS_REPLICAS");
  if (replicas !== undefined && !replicasAllowed.includes(replicas)) {
    reader.problem(`NATS_REPLICAS must be ${replicasAllowed.join(", ")}`);
  }
  return servers && { servers, replicas: replicas === undefined ? undefined : Number(replicas) };
}
