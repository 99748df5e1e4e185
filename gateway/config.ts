import type { SettingsReader } from "#shared/process/config.ts";
import { readShutdownDelayMs } from "#shared/process/lifecycle.ts";
import { http2Transport } from "#shared/rpc/transport.ts";
import type { Transports } from "./clients.ts";
import { readDashboardSettings, type DashboardSettings } from "./dashboard/settings.ts";
import { createTrust, type TrustedProxies } from "./listener/addresses.ts";
import {
  byteLimits,
  exportLimits,
  listenerLimits,
  pageLimits,
  type ByteLimits,
  type ExportLimits,
  type ListenerLimits,
  type PageLimits,
} from "./listener/limits.ts";
import { readOAuthSettings, type OAuthSettings } from "./oauth/settings.ts";
import type { RateLimits } from "./rate/limits.ts";

export interface GatewaySettings {
  port: number;
  internalPort: number;
  limits: RateLimits;
  compat: CompatSettings;
  edge: EdgeSettings;
  dashboard: DashboardSettings;
  oauth: OAuthSettings;
}

export interface CompatSettings {
  /** Accepted schemes of Authorization beside its own and Bearer, spelt as in answers. */
  authSchemes: readonly string[];
}

/** Limits of the public surface, and the proxies in front of it. */
export interface EdgeSettings {
  listener: ListenerLimits;
  bytes: ByteLimits;
  pages: PageLimits;
  exports: ExportLimits;
  trustedProxies: TrustedProxies;
  /** Public URL without a trailing slash; undefined to derive it from each request. */
  publicUrl: string | undefined;
  /** Time for which the gateway goes on accepting after a stop signal. */
  shutdownDelayMs: number;
}

const portDefault = 8080;
const internalPortDefault = 9100;
const requestsMax = 1_000_000_000;
const authSchemesDefault = "Klaviyo-API-Key";
const connectionsSettingMax = 1_000_000;
// Above the largest body limit.
const bytesMin = 8 * 1024 * 1024;
const bytesMax = 1024 ** 4;

/** Without any settings. */
export const compatDefaults: CompatSettings = { authSchemes: [authSchemesDefault] };

/** Without any settings. */
export const edgeDefaults: EdgeSettings = {
  listener: listenerLimits,
  bytes: byteLimits,
  pages: pageLimits,
  exports: exportLimits,
  trustedProxies: [],
  publicUrl: undefined,
  shutdownDelayMs: 0,
};

const authSchemePattern = /^[\w-]{1,64}$/;

export function readGatewaySettings(reader: SettingsReader): GatewaySettings {
  return {
    port: reader.integer("PORT", portDefault, 0, 65_535),
    internalPort: reader.integer("INTERNAL_PORT", internalPortDefault, 0, 65_535),
    limits: {
      ordinary: reader.integer("RATE_LIMIT_PER_MINUTE", 60_000, 1, requestsMax),
      backfill: reader.integer("RATE_LIMIT_BACKFILL_PER_MINUTE", 6_000, 1, requestsMax),
    },
    compat: { authSchemes: readAuthSchemes(reader) },
    edge: readEdgeSettings(reader),
    dashboard: readDashboardSettings(reader),
    oauth: readOAuthSettings(reader),
  };
}

function readEdgeSettings(reader: SettingsReader): EdgeSettings {
  const { connectionsMax, connectionsPerAddressMax } = listenerLimits;
  const bytes = (name: string, fallback: number): number => reader.integer(name, fallback, bytesMin, bytesMax);
  return {
    listener: {
      ...listenerLimits,
      connectionsMax: reader.integer("CONNECTIONS_MAX", connectionsMax, 1, connectionsSettingMax),
      connectionsPerAddressMax: reader.integer(
        "CONNECTIONS_PER_ADDRESS_MAX",
        connectionsPerAddressMax,
        1,
        connectionsSettingMax,
      ),
    },
    bytes: {
      bodyBytesPerKeyMax: bytes("BODY_BYTES_PER_KEY_MAX", byteLimits.bodyBytesPerKeyMax),
      bodyBytesMax: bytes("BODY_BYTES_MAX", byteLimits.bodyBytesMax),
      answerBytesPerKeyMax: bytes("ANSWER_BYTES_PER_KEY_MAX", byteLimits.answerBytesPerKeyMax),
      answerBytesMax: bytes("ANSWER_BYTES_MAX", byteLimits.answerBytesMax),
    },
    pages: pageLimits,
    exports: exportLimits,
    trustedProxies: readTrustedProxies(reader),
    publicUrl: readPublicUrl(reader),
    shutdownDelayMs: readShutdownDelayMs(reader),
  };
}

/** Reads PUBLIC_URL, without a trailing slash; undefined if unset. */
export function readPublicUrl(reader: SettingsReader): string | undefined {
  return reader.optionalUrl("PUBLIC_URL", ["http:", "https:"])?.replace(/\/+$/, "");
}

function readTrustedProxies(reader: SettingsReader): string[] {
  const proxies = (reader.optional("TRUSTED_PROXIES") ?? "").split(",").map((entry) => entry.trim());
  const named = proxies.filter((entry) => entry !== "");
  try {
    createTrust(named);
  } catch (error) {
    reader.problem(`TRUSTED_PROXIES: ${(error as Error).message}`);
  }
  return named;
}

function readAuthSchemes(reader: SettingsReader): string[] {
  const schemes = reader
    .text("COMPAT_AUTH_SCHEMES", authSchemesDefault)
    .split(",")
    .map((scheme) => scheme.trim());
  if (!schemes.every((scheme) => authSchemePattern.test(scheme))) {
    reader.problem("COMPAT_AUTH_SCHEMES must be names of schemes, separated by commas");
  }
  return schemes;
}

/** URLs of services that run as separate processes; several of a service are its replicas. */
export function readServiceUrls(reader: SettingsReader): Record<keyof Transports, string[]> {
  const service = (name: string, port: number) => reader.urls(name, ["http:"], `http://127.0.0.1:${port}`);
  return {
    identity: service("IDENTITY_URL", 8101),
    profiles: service("PROFILE_URL", 8102),
    events: service("EVENT_URL", 8103),
    metrics: service("METRIC_URL", 8104),
    webhooks: service("WEBHOOK_URL", 8105),
  };
}

/** Connects to services at URLs of their own, or to all of them at one. */
export function connectServices(
  urls: string | Record<keyof Transports, string | readonly string[]>,
  internalToken: string,
): Transports {
  const transportTo = (name: keyof Transports): Transports[keyof Transports] =>
    http2Transport(typeof urls === "string" ? urls : urls[name], internalToken);
  return {
    identity: transportTo("identity"),
    profiles: transportTo("profiles"),
    events: transportTo("events"),
    metrics: transportTo("metrics"),
    webhooks: transportTo("webhooks"),
  };
}
