/** Finds out who calls, takes the request from their window, and checks that the route's scope is among what they may do. */
import { hash } from "node:crypto";
import type { Client } from "@connectrpc/connect";
import type { FastifyRequest } from "fastify";
import { fastifyPlugin } from "fastify-plugin";
import { LRUCache } from "lru-cache";
import { Mode, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { DaybookError } from "#shared/errors.ts";
import { callOptions, calling } from "#shared/interceptors.ts";
import { newestRevision, revisions, type Revision } from "#shared/revisions.ts";
import { fromTimestamp } from "#shared/time.ts";
import type { KeyEnds } from "../key-ends.ts";
import type { KeyUse } from "../key-use.ts";
import type { RateLimits, RateWindow } from "../rate/limits.ts";
import type { RateShares } from "../rate/shares.ts";
import { revisionAsked } from "./revision.ts";

/** Who calls. */
export interface Caller {
  keyId: string;
  propertyId: string;
  livemode: boolean;
  scopes: ReadonlySet<string>;
  /** The revision that the key is pinned to. */
  revision: Revision;
  /** When the key ends, by performance.now(); Infinity when it does not. */
  endsAtMs: number;
  /** The key's own limits, or those that every key has. */
  limits: RateLimits;
  /** Three letters: what values of the property are in unless they say otherwise. */
  defaultCurrency: string;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** What a key needs for this route; null for any good key. A route without it asks for no key. */
    scope?: string | null;
    /** Schemes of Authorization that the route takes, in lower case; only Bearer unless it says so. */
    authSchemes?: readonly string[];
  }
}

const callersMax = 10_000;
/** For how long a gateway remembers who a key is: after that, one that was revoked opens nothing, though no signal came. */
export const callerAgeMsMax = 5_000;
const credentialPattern = /^([\w-]{1,64}) +([\x21-\x7e]{1,512})$/;
const bearerOnly: readonly string[] = ["bearer"];

const authorizationPattern = /^authorization$/i;

const ordinaryOnly: readonly RateWindow[] = ["ordinary"];
// The body tells which of them it is, and is not there yet.
const bothWindows: readonly RateWindow[] = ["ordinary", "backfill"];

/** What the plugin works with. */
export interface AuthenticationOptions {
  identity: Client<typeof IdentityService>;
  shares: RateShares;
  keyUse: KeyUse;
  keyEnds: KeyEnds;
  callerAgeMsMax: number;
  /** Those of keys without limits of their own. */
  limits: RateLimits;
}

export const authenticationPlugin = fastifyPlugin<AuthenticationOptions>((app, options) => {
  const { shares, keyUse, keyEnds } = options;
  // By the hash of the secret. Keys that are not good are remembered too, so that guessing does not reach the database each time.
  const callers = new LRUCache<string, { caller: Caller | null }, readonly RateWindow[]>({
    max: callersMax,
    ttl: options.callerAgeMsMax,
    // Who it was is remembered, so that no share is asked for that is there already.
    noDeleteOnStaleGet: true,
    fetchMethod: async (secretHash, before, { context }) => ({
      caller: await authenticate(options, Buffer.from(secretHash, "hex"), before?.caller?.keyId, context),
    }),
  });

  async function findCaller(
    { raw, routeOptions }: FastifyRequest,
    windows: readonly RateWindow[],
  ): Promise<Caller | null> {
    // Of two keys Node takes the first, and whoever is between us perhaps the other.
    const isOnly =
      raw.rawHeaders.filter((name, index) => index % 2 === 0 && authorizationPattern.test(name)).length === 1;
    const [, scheme = "", secret] = (isOnly && credentialPattern.exec(raw.headers.authorization ?? "")) || [];
    const { authSchemes = bearerOnly } = routeOptions.config;
    if (secret === undefined || !authSchemes.includes(scheme.toLowerCase())) return null;
    const secretHash = hash("sha256", secret, "hex");
    const known = callers.get(secretHash) ?? (await callers.fetch(secretHash, { context: windows }));
    const caller = known?.caller;
    // Looked at with each request: an answer that was under way when the key ended may have come since.
    const isOver = !caller || caller.endsAtMs <= performance.now() || keyEnds.hasEnded(caller.keyId);
    return isOver ? null : caller;
  }

  app.addHook("onRequest", async (request, reply) => {
    const { scope, rateByBody } = request.routeOptions.config;
    if (scope === undefined || request.is404) return;
    const windows = rateByBody ? bothWindows : ordinaryOnly;
    const caller = await findCaller(request, windows);
    if (!caller) {
      // Guesses are counted by client address.
      await app.takeRate(request, reply, "ordinary");
      throw invalidKey();
    }
    request.caller = caller;
    request.revision = revisionAsked(request) ?? caller.revision;
    // Before anything that costs more; a request without the scope counts too.
    keyUse.note(caller);
    if (rateByBody) shares.prepare(caller, windows);
    else await app.takeRate(request, reply, "ordinary");
    if (scope !== null) requireScope(caller, scope);
  });
});

/**
 * Checks a scope.
 * @throws DaybookError `missing_scope`
 */
export function requireScope(caller: Caller, scope: string): void {
  if (!caller.scopes.has(scope)) {
    throw new DaybookError("missing_scope", `The API key lacks the scope ${scope}.`);
  }
}

async function authenticate(
  { identity, shares, limits }: AuthenticationOptions,
  secretHash: Buffer,
  keyId: string | undefined,
  windows: readonly RateWindow[],
): Promise<Caller | null> {
  try {
    const call = callOptions({ requestId: "", caller: "gateway" });
    const wishes = shares.wishes(keyId, windows);
    const noteTime = shares.clock.ask();
    const askedAtMs = performance.now();
    const { key, property, leases, now } = await calling(identity.authenticateKey({ secretHash, wishes }, call));
    if (!key || !property || !now) throw new Error("identity answered without a key");
    noteTime(fromTimestamp(now));
    const caller: Caller = {
      keyId: key.id,
      propertyId: property.id,
      livemode: property.mode === Mode.LIVE,
      scopes: new Set(key.scopes),
      revision: revisions.find((revision) => revision === key.revision) ?? newestRevision,
      endsAtMs: key.expiresAt ? askedAtMs + (fromTimestamp(key.expiresAt) - fromTimestamp(now)) / 1000 : Infinity,
      limits: {
        ordinary: key.rateLimits?.ordinary ?? limits.ordinary,
        backfill: key.rateLimits?.backfill ?? limits.backfill,
      },
      defaultCurrency: property.defaultCurrency,
    };
    shares.learn(caller, leases);
    return caller;
  } catch (error) {
    if (error instanceof DaybookError && error.code === "invalid_api_key") return null;
    throw error;
  }
}

function invalidKey(): DaybookError {
  return new DaybookError(
    "invalid_api_key",
    "The API key is missing or not valid. Send it as: Authorization: Bearer <key>",
  );
}
