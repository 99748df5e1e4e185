/** Finds out who calls, takes the request from their window, and checks that the route's scope is among what they may do. */
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
  /** When identity was asked for all of this, by performance.now(). */
  askedAtMs: number;
  /** When the key ends, by performance.now(); Infinity when it does not. */
  endsAtMs: number;
  /** The key's own limits, or those that every key has. */
  limits: RateLimits;
  /** Three letters: what values of the property are in unless they say otherwise. */
  defaultCurrency: string;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Schemes of Authorization that the route takes, in lower case; only Bearer unless it says so. */
    authSchemes?: readonly string[];
    /** What may stand before the secret, and means nothing. */
    keyPrefix?: string;
  }
}

const callersMax = 10_000;
/** For how long a gateway remembers who a key is: after that, one that was revoked opens nothing, though no signal came. */
export const callerAgeMsMax = 5_000;
// The first answer may have been under way when the signal came. Those after it are outdated only if they each take longer than signals need.
const asksAgainMax = 5;
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

  // Hashes that are being looked up: who asks for the same one waits for that answer, and costs nothing.
  const asking = new Set<string>();
  const isOutdated = (caller: Caller | null): boolean =>
    caller !== null && keyEnds.isOutdated(caller.keyId, caller.askedAtMs);
  async function look(secretHash: string, windows: readonly RateWindow[]): Promise<Caller | null> {
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

  /** The only credential of a request, if it can be a key at all: what has another form is never looked up. */
  function readSecret({ raw, routeOptions }: FastifyRequest): string | undefined {
    // Of two keys Node takes the first, and whoever is between us perhaps the other.
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
    // A key that was good when it was last looked up is no guess, so it goes on from an address that others guess from.
    const isGuess = !callers.get(secretHash, { allowStale: true })?.caller && !asking.has(secretHash);
    // Before anybody is asked: a guess that is one too many is not looked up.
    if (isGuess) app.takeGuess(request, reply);
    let isBad = false;
    try {
      const caller = await look(secretHash, windows);
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
    const call = systemCall("gateway");
    const wishes = shares.wishes(keyId, windows);
    const noteTime = shares.clock.ask();
    const askedAtMs = performance.now();
    const { key, property, leases, now } = await identity.authenticateKey({ secretHash, wishes }, call);
    if (!key || !property || !now) throw new Error("identity answered without a key");
    noteTime(fromTimestamp(now));
    const caller: Caller = {
      keyId: key.id,
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
