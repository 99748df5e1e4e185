/**
 * Rate limits: fixed windows of a minute by key, one for ordinary requests and one for backfill batches. Requests without a good key
 * have a window by client address. Counted in this process, without a round trip.
 */
import { fastifyPlugin } from "fastify-plugin";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#shared/clock.ts";
import { DaybookError } from "#shared/errors.ts";
import { requireScope } from "./authentication.ts";

/** Requests per minute. */
export interface RateLimits {
  ordinary: number;
  backfill: number;
}

/** Which window a request is taken from. */
export type RateWindow = keyof RateLimits;

declare module "fastify" {
  interface FastifyContextConfig {
    /** The body decides the window, so the route calls takeRate itself. */
    rateByBody?: true;
  }
  interface FastifyInstance {
    /**
     * Takes one request from a window.
     * @throws DaybookError `rate_limited`
     */
    takeRate(request: FastifyRequest, reply: FastifyReply, window: RateWindow): void;
    /** Puts the state of the ordinary window into the headers without taking from it. */
    showRate(request: FastifyRequest, reply: FastifyReply): void;
  }
}

const windowSeconds = 60;
// Windows of client addresses that are kept apart; the addresses beyond share one.
const windowsMax = 100_000;

export const rateLimitPlugin = fastifyPlugin<{ limits: RateLimits; clock: Clock }>((app, { limits, clock }) => {
  let windowNumber = 0;
  let counts = new Map<string, number>();

  /** Counts `taken` requests in a window and tells how many are left; below 0 when it was over already. */
  function count(name: string, limit: number, taken: number): { remaining: number; resetSeconds: number } {
    const seconds = clock.nowMicros() / 1_000_000;
    const current = Math.floor(seconds / windowSeconds);
    if (current !== windowNumber) {
      windowNumber = current;
      counts = new Map();
    }
    const key = counts.size < windowsMax || counts.has(name) ? name : "others";
    const used = (counts.get(key) ?? 0) + taken;
    if (taken > 0 && used <= limit) counts.set(key, used);
    return { remaining: limit - used, resetSeconds: Math.ceil((current + 1) * windowSeconds - seconds) };
  }

  function apply(request: FastifyRequest, reply: FastifyReply, window: RateWindow, taken: number): void {
    const who = request.caller?.keyId ?? `address ${request.ip}`;
    const limit = limits[window];
    const { remaining, resetSeconds } = count(`${window} ${who}`, limit, taken);
    void reply.headers({
      "ratelimit-limit": limit,
      "ratelimit-remaining": Math.max(0, remaining),
      "ratelimit-reset": resetSeconds,
    });
    if (remaining < 0) {
      const message = `The limit of ${limit} requests a minute is reached.`;
      throw new DaybookError("rate_limited", message, { retryAfterMs: resetSeconds * 1000 });
    }
  }

  app.decorate("takeRate", (request: FastifyRequest, reply: FastifyReply, window: RateWindow): void => {
    apply(request, reply, window, 1);
  });

  app.decorate("showRate", (request: FastifyRequest, reply: FastifyReply): void => {
    apply(request, reply, "ordinary", 0);
  });

  // After authentication, before anything that costs more. A request without the scope is counted too.
  app.addHook("onRequest", async (request, reply) => {
    const { caller } = request;
    if (!caller) return;
    const { scope, rateByBody } = request.routeOptions.config;
    if (!rateByBody) apply(request, reply, "ordinary", 1);
    if (scope !== undefined) requireScope(caller, scope);
  });

  // Requests that came to an end before they were counted: no good key, no such path, a body that cannot be read.
  app.addHook("onSend", async (request, reply) => {
    if (!reply.hasHeader("ratelimit-limit")) app.showRate(request, reply);
  });
});
