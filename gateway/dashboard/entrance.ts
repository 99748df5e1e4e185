/** Lets requests with a good session in, and counts them. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { DaybookError } from "#shared/values/errors.ts";
import type { AddressWindows } from "../rate/address-windows.ts";
import { readCookie } from "./place.ts";
import { signInRequired } from "./refusal.ts";
import type { Sessions, Viewer } from "./sessions.ts";

/** A request of somebody who is signed in. */
export interface Visit {
  viewer: Viewer;
  token: string;
}

export interface Entrance {
  /**
   * Finds who asks. Requests with a cookie that opens nothing are counted by address, as with keys.
   * @throws DaybookError `rate_limited`
   */
  find(request: FastifyRequest, reply: FastifyReply): Promise<Visit | undefined>;
  /** As find, and counts the request. @throws DaybookError `sign_in_required` or `rate_limited` */
  enter(request: FastifyRequest, reply: FastifyReply): Promise<Visit>;
  /** @throws Error for a request that did not enter */
  visitOf(request: FastifyRequest): Visit;
}

/** The cookie of a session, without what place.ts puts around it. */
export const sessionCookie = "daybook";

/** @param windows of members, by their ids: a member may have many sessions. */
export function createEntrance(sessions: Sessions, windows: AddressWindows): Entrance {
  const visits = new WeakMap<FastifyRequest, Visit>();

  const find: Entrance["find"] = async (request, reply) => {
    const token = readCookie(request, sessionCookie);
    if (token === undefined) return undefined;
    const { server } = request;
    const isGuess = !sessions.isKnown(token);
    if (isGuess) server.takeGuess(request, reply);
    const viewer = await sessions.find(token);
    if (!viewer) return undefined;
    if (isGuess) server.returnGuess(request, reply);
    const visit = { viewer, token };
    visits.set(request, visit);
    return visit;
  };

  return {
    find,
    async enter(request, reply) {
      const visit = await find(request, reply);
      if (!visit) throw signInRequired();
      const { isOver, limit, resetSeconds } = windows.take(visit.viewer.member.id);
      if (!isOver) return visit;
      const message = `The limit of ${limit} requests a minute of a member is reached.`;
      throw new DaybookError("rate_limited", message, { retryAfterMs: resetSeconds * 1000 });
    },
    visitOf(request) {
      const visit = visits.get(request);
      if (!visit) throw new Error("this request did not enter");
      return visit;
    },
  };
}
