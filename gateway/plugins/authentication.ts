/** Authenticates the key or access token, takes the request from its rate window, and checks the scope of the route. */
import { hash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { fastifyPlugin } from "fastify-plugin";
import { LRUCache } from "lru-cache";
import { DaybookError, serviceUnavailable } from "#shared/values/errors.ts";
import { listed } from "#shared/values/wording.ts";
import type { Ends } from "../ends.ts";
import type { CallerUse } from "../caller-use.ts";
import { findCaller, type Caller, type CallersContext } from "../callers.ts";
import { readCredential, type CredentialKind } from "../credentials.ts";
import type { RateWindow } from "../rate/limits.ts";
import { revisionAsked } from "./revision.ts";

const callersMax = 10_000;
/** Maximum age of a cached caller: a key that was revoked stops working after this time even if its signal was lost. */
export const callerAgeMsMax = 5_000;
// A lookup may have been under way when its signal came. A later one is outdated only if another signal counted since,
// which happens at most once per askAgainIntervalMs.
const asksAgainMax = 5;

const ordinaryOnly: readonly RateWindow[] = ["ordinary"];
// The body decides between them and has not been read yet.
const bothWindows: readonly RateWindow[] = ["ordinary", "backfill"];

export interface AuthenticationOptions extends CallersContext {
  callerUse: CallerUse;
  callerEnds: Ends;
  callerAgeMsMax: number;
}

/** What a lookup is for. */
interface Wanted {
  kind: CredentialKind;
  windows: readonly RateWindow[];
}

export const authenticationPlugin = fastifyPlugin<AuthenticationOptions>((app, options) => {
  const { shares, callerUse, callerEnds } = options;
  // Keyed by the hash of the secret. Invalid ones are cached too, so that repeated guesses do not reach the database.
  const callers = new LRUCache<string, { caller: Caller | null }, Wanted>({
    max: callersMax,
    ttl: options.callerAgeMsMax,
    // The stale entry supplies the caller id, so that no share is requested that is held already.
    noDeleteOnStaleGet: true,
    fetchMethod: async (secretHash, before, { context: { kind, windows } }) => ({
      caller: await findCaller(options, kind, Buffer.from(secretHash, "hex"), before?.caller?.callerId, windows),
    }),
  });

  // Hashes with a lookup under way. A request for one of them joins that lookup and does not count as a guess.
  const asking = new Set<string>();
  const isOutdated = (caller: Caller | null): boolean =>
    caller !== null && callerEnds.isOutdated(caller.callerId, caller.askedAtMs);
  async function lookUp(secretHash: string, context: Wanted): Promise<Caller | null> {
    let known = callers.get(secretHash);
    if (known && !isOutdated(known.caller)) return known.caller;
    asking.add(secretHash);
    try {
      known ??= await callers.fetch(secretHash, { context });
      // An answer that was under way when its caller was signalled is outdated too; the one after it is not.
      for (let again = 0; known && isOutdated(known.caller); again++) {
        if (again === asksAgainMax) throw serviceUnavailable(new Error("every answer for the caller was outdated"));
        known = await callers.fetch(secretHash, { context, forceRefresh: true });
      }
      return known?.caller ?? null;
    } finally {
      asking.delete(secretHash);
    }
  }

  /** @throws DaybookError `invalid_api_key`, or `rate_limited` to an address with too many guesses. */
  async function authenticate(
    request: FastifyRequest,
    reply: FastifyReply,
    windows: readonly RateWindow[],
  ): Promise<Caller> {
    const credential = readCredential(request);
    if (!credential) {
      app.takeGuess(request, reply);
      throw invalidKey();
    }
    const { kind, secret } = credential;
    const secretHash = hash("sha256", secret, "hex");
    // One that was good at its last lookup is no guess, so other clients' guesses from its address do not block it.
    const isGuess = !callers.get(secretHash, { allowStale: true })?.caller && !asking.has(secretHash);
    // Counted before the lookup, so that a guess above the limit costs none.
    if (isGuess) app.takeGuess(request, reply);
    let isBad = false;
    try {
      const caller = await lookUp(secretHash, { kind, windows });
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
    const caller = await authenticate(request, reply, windows);
    request.caller = caller;
    request.revision = revisionAsked(request) ?? caller.revision;
    // Counted before the costlier checks, so a request without the scope counts too.
    callerUse.note(caller);
    if (rateByBody) shares.prepare(caller, windows);
    else await app.takeRate(request, reply, "ordinary");
    if (typeof scope === "string") requireScope(caller, scope);
    else if (scope !== null) requireOneScope(caller, scope);
  });
});

/** @throws DaybookError `missing_scope` */
export function requireScope(caller: Caller, scope: string): void {
  if (!caller.scopes.has(scope)) {
    throw new DaybookError("missing_scope", `The API key or access token lacks the scope ${scope}.`);
  }
}

/** @throws DaybookError `missing_scope` */
export function requireOneScope(caller: Caller, scopes: readonly string[]): void {
  if (scopes.some((scope) => caller.scopes.has(scope))) return;
  const names = listed(scopes, "and");
  throw new DaybookError(
    "missing_scope",
    `The API key or access token lacks the scopes ${names}: it needs one of them.`,
  );
}

function invalidKey(): DaybookError {
  return new DaybookError(
    "invalid_api_key",
    "The API key or access token is missing or not valid. Send it as: Authorization: Bearer <key or token>",
  );
}
