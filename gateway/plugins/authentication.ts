/** Finds out who calls, takes the request from their window, and checks that the route's scope is among what they may do. */
import { hash } from "node:crypto";
import type { Client } from "@connectrpc/connect";
import { fastifyPlugin } from "fastify-plugin";
import { LRUCache } from "lru-cache";
import { Mode, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { DaybookError } from "#shared/errors.ts";
import { callOptions, calling } from "#shared/interceptors.ts";
import { newestRevision, revisions, type Revision } from "#shared/revisions.ts";

/** Who calls. */
export interface Caller {
  keyId: string;
  propertyId: string;
  livemode: boolean;
  scopes: ReadonlySet<string>;
  /** The revision that the key is pinned to. */
  revision: Revision;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** What a key needs for this route. A route without a scope asks for no key. */
    scope?: string;
  }
}

const callersMax = 10_000;
// A revoked key opens nothing after this long.
const callerAgeMaxMs = 5_000;
const bearerPattern = /^Bearer +([\x21-\x7e]{1,512})$/i;

export const authenticationPlugin = fastifyPlugin<{ identity: Client<typeof IdentityService> }>((app, { identity }) => {
  // By the hash of the secret. Keys that are not good are remembered too, so that guessing does not reach the database each time.
  const callers = new LRUCache<string, { caller: Caller | null }>({
    max: callersMax,
    ttl: callerAgeMaxMs,
    fetchMethod: async (secretHash) => ({ caller: await authenticate(identity, Buffer.from(secretHash, "hex")) }),
  });

  async function findCaller(authorization: string | undefined): Promise<Caller | null> {
    const secret = bearerPattern.exec(authorization ?? "")?.[1];
    if (secret === undefined) return null;
    const secretHash = hash("sha256", secret, "hex");
    const known = callers.get(secretHash) ?? (await callers.fetch(secretHash));
    return known?.caller ?? null;
  }

  app.addHook("onRequest", async (request, reply) => {
    const { scope, rateByBody } = request.routeOptions.config;
    if (scope === undefined || request.is404) return;
    const caller = await findCaller(request.headers.authorization);
    if (!caller) {
      // Guesses are counted by client address.
      app.takeRate(request, reply, "ordinary");
      throw invalidKey();
    }
    request.caller = caller;
    request.revision = caller.revision;
    // Before anything that costs more; a request without the scope counts too.
    if (!rateByBody) app.takeRate(request, reply, "ordinary");
    requireScope(caller, scope);
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

async function authenticate(identity: Client<typeof IdentityService>, secretHash: Buffer): Promise<Caller | null> {
  try {
    const call = callOptions({ requestId: "", caller: "gateway" });
    const { key, property } = await calling(identity.authenticateKey({ secretHash }, call));
    if (!key || !property) throw new Error("identity answered without a key");
    return {
      keyId: key.id,
      propertyId: property.id,
      livemode: property.mode === Mode.LIVE,
      scopes: new Set(key.scopes),
      revision: revisions.find((revision) => revision === key.revision) ?? newestRevision,
    };
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
