/** OAuth 2.1 for apps: the authorization server under `/oauth`, its metadata, and the page of a consent. */
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from "fastify";
import type { Provider } from "oidc-provider";
import { Counter, type Registry } from "prom-client";
import type { Log } from "#shared/process/log.ts";
import type { Clock } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";
import type { DashboardContext } from "../dashboard/context.ts";
import { sendPageError } from "../dashboard/pages/errors.ts";
import { parseForms } from "../dashboard/pages/forms.ts";
import { isLoopback } from "../dashboard/place.ts";
import { collectMethods } from "../plugins/method-not-allowed.ts";
import { securityHeaders } from "../plugins/security-headers.ts";
import { createAddressWindows } from "../rate/address-windows.ts";
import type { Rate } from "../rate/limits.ts";
import type { WindowClock } from "../rate/window-clock.ts";
import { consentPages } from "./consent.ts";
import { metadataPath, oauthPaths } from "./paths.ts";
import { createProvider } from "./provider.ts";
import { createOAuthSecrets } from "./secrets.ts";
import type { OAuthSettings } from "./settings.ts";

export interface OAuthOptions {
  dashboard: DashboardContext;
  clock: Clock;
  log: Log;
  registry: Registry;
  windowClock: WindowClock;
  /** PUBLIC_URL, without which there is no OAuth: it is the issuer. */
  publicUrl: string | undefined;
  secret: string;
  acceptedSecret: string | undefined;
  settings: OAuthSettings;
}

/** Which methods the library answers, by path. */
const endpoints: readonly [methods: HTTPMethods[], path: string][] = [
  [["GET", "HEAD"], metadataPath],
  [["GET", "HEAD"], oauthPaths.jwks],
  [["GET"], oauthPaths.authorization],
  [["GET"], `${oauthPaths.authorization}/:uid`],
  [["POST"], oauthPaths.token],
  [["POST"], oauthPaths.revocation],
  [["POST"], oauthPaths.pushed_authorization_request],
];
// They check secrets, codes or tokens.
const guarded: ReadonlySet<string> = new Set([
  oauthPaths.token,
  oauthPaths.revocation,
  oauthPaths.pushed_authorization_request,
]);
// What they are asked is kept for minutes, also of clients without a secret.
const kept: ReadonlySet<string> = new Set([oauthPaths.authorization, oauthPaths.pushed_authorization_request]);

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

export function oauthSurface(options: OAuthOptions) {
  const { dashboard, log, registry, publicUrl } = options;
  const issuer = issuerOf(publicUrl);
  // Of every gateway, so that dashboards and alerts find it.
  const reuses = new Counter({
    name: "daybook_oauth_token_reuses_total",
    help: "Codes and refresh tokens that were used again, which ended an installation.",
    registers: [registry],
  });
  return async (app: FastifyInstance): Promise<void> => {
    const provider = issuer === undefined ? undefined : makeProvider(options, issuer, reuses);
    await app.register(async (endpointsApp) => {
      const addMethodNotAllowed = collectMethods(endpointsApp);
      const answer = provider ? serve(options, provider) : refuse;
      for (const [method, url] of endpoints) {
        // In onRequest, because the library reads the body itself.
        endpointsApp.route({ method, url, exposeHeadRoute: false, onRequest: answer, handler: () => undefined });
      }
      addMethodNotAllowed();
    });
    if (!provider) return;
    await app.register(async (pagesApp) => {
      pagesApp.setErrorHandler((error, request, reply) => sendPageError(log, error, request, reply));
      const addMethodNotAllowed = collectMethods(pagesApp);
      parseForms(pagesApp);
      consentPages(pagesApp, dashboard, provider);
      addMethodNotAllowed();
    });
  };
}

/** @returns undefined where OAuth is not safe, or an app could not find it: it looks at the root of an address. */
function issuerOf(publicUrl: string | undefined): string | undefined {
  const url = URL.parse(publicUrl ?? "");
  if (!url || url.pathname !== "/" || url.search !== "") return undefined;
  return url.protocol === "https:" || isLoopback(url.hostname) ? url.origin : undefined;
}

const refuse: Hook = async () => {
  throw new DaybookError(
    "resource_not_found",
    "OAuth is off: `PUBLIC_URL` must be set to an https address without a path, or to http on a loopback host.",
  );
};

function makeProvider(options: OAuthOptions, issuer: string, reuses: Counter): Provider {
  const { dashboard, clock, log, windowClock, settings } = options;
  return createProvider({
    oauth: dashboard.clients.oauth,
    issuer,
    secrets: createOAuthSecrets(options.secret, options.acceptedSecret),
    clock,
    log,
    reuses,
    graceSeconds: settings.refreshGraceSeconds,
    appWindows: createAddressWindows(windowClock, settings.requestsPerMinute),
  });
}

/** Hands requests to the library. */
function serve({ windowClock, settings }: OAuthOptions, provider: Provider): Hook {
  const failures = createAddressWindows(windowClock, settings.failuresPerMinute);
  const authorizations = createAddressWindows(windowClock, settings.authorizationsPerMinute);
  const { host, protocol } = new URL(provider.issuer);
  const callback = provider.callback();
  return async (request, reply) => {
    const { raw, ip } = request;
    const { url = "" } = request.routeOptions;
    const isGuarded = guarded.has(url);
    reply.hijack();
    for (const [name, value] of Object.entries(securityHeaders)) reply.raw.setHeader(name, value);
    reply.raw.setHeader("x-request-id", request.id);
    const failed = failures.peek(ip);
    if (isGuarded && failed.remaining === 0) return sendTooMany(reply, failed, "refused requests");
    if (kept.has(url)) {
      const asked = authorizations.take(ip);
      if (asked.isOver) return sendTooMany(reply, asked, "authorization requests");
    }
    // The library takes addresses from the headers of the request, which anybody can send.
    delete raw.headers["x-forwarded-host"];
    raw.headers.host = host;
    raw.headers["x-forwarded-proto"] = protocol.slice(0, -1);
    await callback(raw, reply.raw);
    if (isGuarded && reply.raw.statusCode >= 400 && reply.raw.statusCode < 500) failures.take(ip);
  };
}

function sendTooMany({ raw }: FastifyReply, { limit, resetSeconds }: Rate, what: string): void {
  const description = `The limit of ${limit} ${what} a minute of an address is reached.`;
  raw.writeHead(429, { "content-type": "application/json; charset=utf-8", "retry-after": `${resetSeconds}` });
  raw.end(JSON.stringify({ error: "temporarily_unavailable", error_description: description }));
}
