/** Authenticates the key, takes the request from its rate window, and checks the scope of the route. */
import { hash } from "node:crypto";
import type { Client } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import { fastifyPlugin } from "fastify-plugin";
import { LRUCache } from "lru-cache";
import { Mode, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { DaybookError, serviceUnavailable } from "#shared/values/errors.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { modeOfKey } from "#shared/values/key-form.ts";
import { newestRevision, revisions, type Revision } from "#shared/values/revisions.ts";
import { fromTimestamp } from "#shared/values/time.ts";
import type { Ends } from "../ends.ts";
import type { CallerUse } from "../caller-use.ts";
import type { RateLimits, RateWindow } from "../rate/limits.ts";
import type { RateShares } from "../rate/shares.ts";
import { revisionAsked } from "./revision.ts";

export interface Caller {
  callerId: string;
  propertyId: string;
  livemode: boolean;
  scopes: ReadonlySet<string>;
  /** The revision that the key is pinned to. */
  revision: Revision;
  /** When the request to identity was sent, by performance.now(). */
  askedAtMs: number;
  /** Expiry of the key, by performance.now(); Infinity without one. */
  endsAtMs: number;
  /** The limits of the key; the defaults where it has none of its own. */
  limits: RateLimits;
  /** Three letters: the currency of values that come without one over the compatibility surface. */
  defaultCurrency: string;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Schemes of Authorization that the route accepts, in lower case; by default only Bearer. */
    authSchemes?: readonly string[];
    /** A prefix of the secret that is stripped. */
    keyPrefix?: string;
  }
}

const callersMax = 10_000;
/** Maximum age of a cached key: a revoked key stops working after this time even if its signal was lost. */
export const callerAgeMsMax = 5_000;
// A lookup may have been under way when its signal came. A later one is outdated only if another signal counted since,
// which happens at most once per askAgainIntervalMs.
const asksAgainMax = 5;
const credentialPattern = /^([\w-]{1,64}) +([\x21-\x7e]{1,512})$/;
const bearerOnly: readonly string[] = ["bearer"];

const authorizationPattern = /^authorization$/i;

const ordinaryOnly: readonly RateWindow[] = ["ordinary"];
// The body decides between them and has not been read yet.
const bothWindows: readonly RateWindow[] = ["ordinary", "backfill"];

export interface AuthenticationOptions {
  identity: Client<typeof IdentityService>;
  shares: RateShares;
  callerUse: CallerUse;
  callerEnds: Ends;
  callerAgeMsMax: number;
  /** Limits of keys that have none of their own. */
  limits: RateLimits;
}

export const authenticationPlugin = fastifyPlugin<AuthenticationOptions>((app, options) => {
  const { shares, callerUse, callerEnds } = options;
  // Keyed by the hash of the secret. Invalid keys are cached too, so that repeated guesses do not reach the database.
  const callers = new LRUCache<string, { caller: Caller | null }, readonly RateWindow[]>({
    max: callersMax,
    ttl: options.callerAgeMsMax,
    // The stale entry supplies the key id, so that no share is requested that is held already.
    noDeleteOnStaleGet: true,
    fetchMethod: async (secretHash, before, { context }) => ({
      caller: await authenticate(options, Buffer.from(secretHash, "hex"), before?.caller?.callerId, context),
    }),
  });

  // Hashes with a lookup under way. A request for one of them joins that lookup and does not count as a guess.
  const asking = new Set<string>();
  const isOutdated = (caller: Caller | null): boolean =>
    caller !== null && callerEnds.isOutdated(caller.callerId, caller.askedAtMs);
  async function lookUp(secretHash: string, windows: readonly RateWindow[]): Promise<Caller | null> {
    let known = callers.get(secretHash);
    if (known && !isOutdated(known.caller)) return known.caller;
    asking.add(secretHash);
    try {
      known ??= await callers.fetch(secretHash, { context: windows });
      // An answer that was under way when its key was signalled is outdated too; the one after it is not.
      for (let again = 0; known && isOutdated(known.caller); again++) {
        if (again === asksAgainMax) throw serviceUnavailable(new Error("every answer for the key was outdated"));
        known = await callers.fetch(secretHash, { context: windows, forceRefresh: true });
      }
      return known?.caller ?? null;
    } finally {
      asking.delete(secretHash);
    }
  }

  /** The secret of the request, if it has exactly one credential and it has the form of a key. */
  function readSecret({ raw, routeOptions }: FastifyRequest): string | undefined {
    // With two Authorization headers Node uses the first; a proxy may use the other.
    const isOnly =
      raw.rawHeaders.filter((name, index) => index % 2 === 0 && authorizationPattern.test(name)).length === 1;
    const [, scheme = "", given] = (isOnly && credentialPattern.exec(raw.headers.authorization ?? "")) || [];
    const { authSchemes = bearerOnly, keyPrefix = "" } = routeOptions.config;
    if (given === undefined || !authSchemes.includes(scheme.toLowerCase())) return undefined;
    const secret = given.startsWith(keyPrefix) ? given.slice(keyPrefix.length) : given;
    return modeOfKey(secret) === undefined ? undefined : secret;
  }

  /** @throws DaybookError `invalid_api_key`, or `rate_limited` to an address with too many guesses. */
  async function findCaller(
    request: FastifyRequest,
    reply: FastifyReply,
    windows: readonly RateWindow[],
  ): Promise<Caller> {
    const secret = readSecret(request);
    if (secret === undefined) {
      app.takeGuess(request, reply);
      throw invalidKey();
    }
    const secretHash = hash("sha256", secret, "hex");
    // A key that was good at its last lookup is no guess, so other clients' guesses from its address do not block it.
    const isGuess = !callers.get(secretHash, { allowStale: true })?.caller && !asking.has(secretHash);
    // Counted before the lookup, so that a guess above the limit costs none.
    if (isGuess) app.takeGuess(request, reply);
    let isBad = false;
    try {
      const caller = await lookUp(secretHash, windows);
      if (!caller || caller.endsAtMs <= performance.now()) {
        isBad = true;
        if (!isGuess) app.takeGuess(request, reply);
        throw invalidKey();
      }
      return caller;
    } finally {
      if (isGuess && !isBad) app.returnGuess(request, reply);
    }
  }

  app.addHook("onRequest", async (request, reply) => {
    const { operation } = request.routeOptions.config;
    if (!operation || request.is404) return;
    const { scope, rateByBody } = operation;
    const windows = rateByBody ? bothWindows : ordinaryOnly;
    const caller = await findCaller(request, reply, windows);
    request.caller = caller;
    request.revision = revisionAsked(request) ?? caller.revision;
    // Counted before the costlier checks, so a request without the scope counts too.
    callerUse.note(caller);
    if (rateByBody) shares.prepare(caller, windows);
    else await app.takeRate(request, reply, "ordinary");
    if (scope !== null) requireScope(caller, scope);
  });
});

/** @throws DaybookError `missing_scope` */
export function requireScope(caller: Caller, scope: string): void {
  if (!caller.scopes.has(scope)) {
    throw new DaybookError("missing_scope", `The API key lacks the scope ${scope}.`);
  }
}

async function authenticate(
  { identity, shares, limits }: AuthenticationOptions,
  secretHash: Buffer,
  callerId: string | undefined,
  windows: readonly RateWindow[],
): Promise<Caller | null> {
  try {
    const call = systemCall("gateway");
    const wishes = shares.wishes(callerId, windows);
    const noteTime = shares.clock.ask();
    const askedAtMs = performance.now();
    const { key, property, leases, now } = await identity.authenticateKey({ secretHash, wishes }, call);
    if (!key || !property || !now) throw new Error("identity answered without a key");
    noteTime(fromTimestamp(now));
    const caller: Caller = {
      callerId: key.id,
      propertyId: property.id,
      livemode: property.mode === Mode.LIVE,
      scopes: new Set(key.scopes),
      revision: revisions.find((revision) => revision === key.revision) ?? newestRevision,
      askedAtMs,
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
