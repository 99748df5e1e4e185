/** The settings of the gateway. */
import type { SettingsReader } from "#shared/config.ts";
import { http2Transport } from "#shared/transport.ts";
import type { Transports } from "./clients.ts";
import type { RateLimits } from "./rate/limits.ts";

/** Where the gateway listens and what it admits, wherever it runs. */
export interface GatewaySettings {
  port: number;
  internalPort: number;
  limits: RateLimits;
  compat: CompatSettings;
}

/** Of the compatibility surface. */
export interface CompatSettings {
  /** Schemes of Authorization that it takes beside its own and Bearer, in lower case. */
  authSchemes: readonly string[];
  /** The address for links, without a slash at the end; undefined: as requests say. */
  publicUrl: string | undefined;
}

const portDefault = 8080;
const internalPortDefault = 9100;
const requestsMax = 1_000_000_000;
const authSchemesDefault = "Klaviyo-API-Key";

/** Without any settings. */
export const compatDefaults: CompatSettings = { authSchemes: [authSchemesDefault.toLowerCase()], publicUrl: undefined };

const authSchemePattern = /^[\w-]{1,64}$/;

export function readGatewaySettings(reader: SettingsReader): GatewaySettings {
  return {
    port: reader.integer("PORT", portDefault, 0, 65_535),
    internalPort: reader.integer("INTERNAL_PORT", internalPortDefault, 0, 65_535),
    limits: {
      ordinary: reader.integer("RATE_LIMIT_PER_MINUTE", 60_000, 1, requestsMax),
      backfill: reader.integer("RATE_LIMIT_BACKFILL_PER_MINUTE", 6_000, 1, requestsMax),
    },
    compat: {
      authSchemes: readAuthSchemes(reader),
      publicUrl: reader.optionalUrl("PUBLIC_URL", ["http:", "https:"])?.replace(/\/+$/, ""),
    },
  };
}

function readAuthSchemes(reader: SettingsReader): string[] {
  const schemes = reader
    .text("COMPAT_AUTH_SCHEMES", authSchemesDefault)
    .split(",")
    .map((scheme) => scheme.trim().toLowerCase());
  if (!schemes.every((scheme) => authSchemePattern.test(scheme))) {
    reader.problem("COMPAT_AUTH_SCHEMES must be names of schemes, separated by commas");
  }
  return schemes;
}

/** Where the services are, when each is a process of its own. */
export function readServiceUrls(reader: SettingsReader): Record<keyof Transports, string> {
  const service = (name: string, port: number): string => reader.url(name, ["http:"], `http://127.0.0.1:${port}`);
  return {
    identity: service("IDENTITY_URL", 8101),
    profiles: service("PROFILE_URL", 8102),
    events: service("EVENT_URL", 8103),
    metrics: service("METRIC_URL", 8104),
  };
}

/** Reaches services by their addresses. */
export function connectServices(urls: Record<keyof Transports, string>, internalToken: string): Transports {
  const { identity, profiles, events, metrics } = urls;
  return {
    identity: http2Transport(identity, internalToken),
    profiles: http2Transport(profiles, internalToken),
    events: http2Transport(events, internalToken),
    metrics: http2Transport(metrics, internalToken),
  };
}
