/** The settings of a bus on NATS. */
import type { SettingsReader } from "../../process/config.ts";
import { readAccess, type Access } from "./access.ts";

const replicasAllowed = ["1", "3", "5"];

/** The settings of NATS connections. */
export interface NatsSettings {
  /** Addresses without credentials. */
  servers: string[];
  access?: Access | undefined;
  replicas?: number | undefined;
}

/** Reads NATS_URL, credentials, TLS, and NATS_REPLICAS, which must be the same for all processes of a mesh. */
export function readNatsSettings(reader: SettingsReader): NatsSettings {
  const settings = readOptionalNatsSettings(reader);
  if (!settings) reader.problem("NATS_URL must be set");
  return settings ?? { servers: [] };
}

/** As readNatsSettings; undefined when NATS_URL is unset. */
export function readOptionalNatsSettings(reader: SettingsReader): NatsSettings | undefined {
  const urls = reader.optionalUrls("NATS_URL", ["nats:", "tls:"]);
  const { servers, access } = readAccess(reader, urls ?? []);
  const replicas = reader.optional("NATS_REPLICAS");
  if (replicas !== undefined && !replicasAllowed.includes(replicas)) {
    reader.problem(`NATS_REPLICAS must be ${replicasAllowed.join(", ")}`);
  }
  return urls && { servers, access, replicas: replicas === undefined ? undefined : Number(replicas) };
}
