/** Who calls: a key, or the installation of an app, as the identity service knows them. */
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { Mode, type Lease, type Property } from "#proto/daybook/identity/v1/identity_pb.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { newestRevision, revisions, type Revision } from "#shared/values/revisions.ts";
import { fromTimestamp } from "#shared/values/time.ts";
import type { Clients } from "./clients.ts";
import type { CredentialKind } from "./credentials.ts";
import type { Wish } from "./rate/lease-messages.ts";
import type { RateLimits, RateWindow } from "./rate/limits.ts";
import type { RateShares } from "./rate/shares.ts";

export interface Caller {
  /** The id of a key, or of an installation: its access tokens are one caller. */
  callerId: string;
  kind: "key" | "installation";
  /** The name of the key, or of the app. */
  name: string;
  propertyId: string;
  livemode: boolean;
  scopes: ReadonlySet<string>;
  /** The revision that the key or installation is pinned to. */
  revision: Revision;
  /** When the request to identity was sent, by performance.now(). */
  askedAtMs: number;
  /** Expiry of the key or token, by performance.now(); Infinity without one. */
  endsAtMs: number;
  /** The limits of the key; the defaults where it has none of its own, and for installations. */
  limits: RateLimits;
  /** Three letters: the currency of values that come without one over the compatibility surface. */
  defaultCurrency: string;
}

export interface CallersContext {
  clients: Pick<Clients, "identity" | "oauth">;
  shares: RateShares;
  /** Limits of callers that have none of their own. */
  limits: RateLimits;
}

/** What identity answers about the caller of a credential. */
interface Found extends Pick<Caller, "callerId" | "kind" | "name"> {
  scopes: readonly string[];
  revision: string;
  expiresAt: Timestamp | undefined;
  ownLimits?: Partial<RateLimits> | undefined;
  property: Property | undefined;
  leases: readonly Lease[];
  now: Timestamp | undefined;
}

const call = systemCall("gateway");

/**
 * Asks identity for the caller of a credential, and leases its first shares.
 * @param secretHash SHA-256 of the credential.
 * @param callerId whose it was when it was asked for before.
 * @returns null for one that opens nothing.
 */
export async function findCaller(
  { clients, shares, limits }: CallersContext,
  kind: CredentialKind,
  secretHash: Buffer,
  callerId: string | undefined,
  windows: readonly RateWindow[],
): Promise<Caller | null> {
  const wishes = shares.wishes(callerId, windows);
  const noteTime = shares.clock.ask();
  const askedAtMs = performance.now();
  try {
    const found = await ask[kind](clients, secretHash, wishes);
    const { property, leases, now, expiresAt } = found;
    if (!property || !now) throw new Error("identity answered without a property");
    noteTime(fromTimestamp(now));
    const caller: Caller = {
      callerId: found.callerId,
      kind: found.kind,
      name: found.name,
      propertyId: property.id,
      livemode: property.mode === Mode.LIVE,
      scopes: new Set(found.scopes),
      revision: revisions.find((revision) => revision === found.revision) ?? newestRevision,
      askedAtMs,
      endsAtMs: expiresAt ? askedAtMs + (fromTimestamp(expiresAt) - fromTimestamp(now)) / 1000 : Infinity,
      limits: {
        ordinary: found.ownLimits?.ordinary ?? limits.ordinary,
        backfill: found.ownLimits?.backfill ?? limits.backfill,
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

const ask: Record<
  CredentialKind,
  (clients: CallersContext["clients"], secretHash: Buffer, wishes: Wish[]) => Promise<Found>
> = {
  async key({ identity }, secretHash, wishes) {
    const { key, property, leases, now } = await identity.authenticateKey({ secretHash, wishes }, call);
    if (!key) throw new Error("identity answered without a key");
    const { id: callerId, name, scopes, revision, expiresAt, rateLimits: ownLimits } = key;
    return { callerId, kind: "key", name, scopes, revision, expiresAt, ownLimits, property, leases, now };
  },
  async token({ oauth }, tokenHash, wishes) {
    const answer = await oauth.authenticateToken({ tokenHash, wishes }, call);
    const { installation, appName: name, scopes, expiresAt, property, leases, now } = answer;
    // Every token ends. One without an expiry would be good for as long as identity is not asked.
    if (!installation || !expiresAt) throw new Error("identity answered without an installation or an expiry");
    const { id: callerId, revision } = installation;
    return { callerId, kind: "installation", name, scopes, revision, expiresAt, property, leases, now };
  },
};
