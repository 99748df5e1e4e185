/** The settings of the gateway. */
import type { SettingsReader } from "#shared/config.ts";
import type { RateLimits } from "./plugins/rate-limit.ts";

/** Where the gateway listens and what it admits, wherever it runs. */
export interface GatewaySettings {
  port: number;
  internalPort: number;
  limits: RateLimits;
}

const portDefault = 8080;
const internalPortDefault = 9100;
const requestsMax = 1_000_000_000;

export function readGatewaySettings(reader: SettingsReader): GatewaySettings {
  return {
    port: reader.integer("PORT", portDefault, 0, 65_535),
    internalPort: reader.integer("INTERNAL_PORT", internalPortDefault, 0, 65_535),
    limits: {
      ordinary: reader.integer("RATE_LIMIT_PER_MINUTE", 60_000, 1, requestsMax),
      backfill: reader.integer("RATE_LIMIT_BACKFILL_PER_MINUTE", 6_000, 1, requestsMax),
    },
  };
}
