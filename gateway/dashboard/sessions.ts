/** Finds the session of a cookie, and the rights of its member. */
import { hash } from "node:crypto";
import type { Client } from "@connectrpc/connect";
import { LRUCache } from "lru-cache";
import type { Member, MemberService, Session } from "#proto/daybook/identity/v1/members_pb.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import type { Micros } from "#shared/values/clock.ts";
import { DaybookError, serviceUnavailable } from "#shared/values/errors.ts";
import { fromTimestamp } from "#shared/values/time.ts";
import type { Ends } from "../ends.ts";

/** Who is signed in. */
export interface Viewer {
  member: Member;
  session: Session;
  /** The service's clock when it answered. */
  now: Micros;
  /** When it was asked, by performance.now(). */
  askedAtMs: number;
}

export interface Sessions {
  /**
   * Finds who is signed in; null for a token that opens nothing.
   * @param ageMsMax maximum age of a remembered answer.
   */
  find(token: string, ageMsMax?: number): Promise<Viewer | null>;
  /** Whether a good answer is remembered, however old it is. Such a token is no guess. */
  isKnown(token: string): boolean;
  /** Forgets what is remembered of a token. */
  forget(token: string): void;
}

// Sessions that are looked at within the same seconds.
const sessionsMax = 10_000;
/** Maximum age of a remembered session: one that ended is refused after this time even if its signal was lost. */
const sessionAgeMsMax = 5_000;
const tokenPattern = /^[\w-]{43}$/;
// An answer may have been under way when its session's signal came.
const asksAgainMax = 5;

export function createSessions(members: Client<typeof MemberService>, memberEnds: Ends): Sessions {
  const viewers = new LRUCache<string, { viewer: Viewer | null; askedAtMs: number }>({
    max: sessionsMax,
    ttl: sessionAgeMsMax,
    noDeleteOnStaleGet: true,
    fetchMethod: async (tokenHash) => {
      const askedAtMs = performance.now();
      return { viewer: await authenticate(members, Buffer.from(tokenHash, "hex"), askedAtMs), askedAtMs };
    },
  });
  const hashOf = (token: string): string => hash("sha256", token, "hex");

  return {
    async find(token, ageMsMax = sessionAgeMsMax) {
      if (!tokenPattern.test(token)) return null;
      const tokenHash = hashOf(token);
      const sinceMs = performance.now() - ageMsMax;
      const isGood = ({ viewer, askedAtMs }: { viewer: Viewer | null; askedAtMs: number }): boolean =>
        askedAtMs >= sinceMs && !(viewer && memberEnds.isOutdated(viewer.member.id, askedAtMs));
      let known = viewers.get(tokenHash);
      for (let asks = 0; known === undefined || !isGood(known); asks++) {
        if (asks === asksAgainMax) throw serviceUnavailable(new Error("every answer for the session was outdated"));
        known = await viewers.fetch(tokenHash, { forceRefresh: asks > 0 || known !== undefined });
      }
      return known.viewer;
    },
    isKnown: (token) => tokenPattern.test(token) && Boolean(viewers.get(hashOf(token), { allowStale: true })?.viewer),
    forget: (token) => void viewers.delete(hashOf(token)),
  };
}

async function authenticate(
  members: Client<typeof MemberService>,
  tokenHash: Buffer,
  askedAtMs: number,
): Promise<Viewer | null> {
  try {
    const { member, session, now } = await members.authenticateSession({ tokenHash }, systemCall("gateway"));
    if (!member || !session || !now) throw new Error("identity answered without a session");
    return { member, session, now: fromTimestamp(now), askedAtMs };
  } catch (error) {
    if (error instanceof DaybookError && error.code === "sign_in_required") return null;
    throw error;
  }
}

/** Whether sensitive acts are allowed now. */
export function isFresh({ session, now, askedAtMs }: Viewer): boolean {
  if (!session.freshUntil) return false;
  return fromTimestamp(session.freshUntil) > now + (performance.now() - askedAtMs) * 1000;
}

/** The rights of a member in a property; undefined without any role there. */
export function rightsIn({ member }: Viewer, propertyId: string): ReadonlySet<string> | undefined {
  const grants = member.grants.filter((grant) => grant.propertyId === undefined || grant.propertyId === propertyId);
  return grants.length === 0 ? undefined : new Set(grants.flatMap(({ rights }) => rights));
}

/** The rights of a member in all properties, also in those that are made later. */
export function rightsEverywhere({ member }: Viewer): ReadonlySet<string> {
  return new Set(member.grants.filter((grant) => grant.propertyId === undefined).flatMap(({ rights }) => rights));
}
