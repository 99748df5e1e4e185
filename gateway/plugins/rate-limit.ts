/**
 * Rate limits: fixed windows of a minute by key, one for ordinary requests and one for backfill batches. Requests without a good key
 * have a window by client address. Counted in this process, without a round trip.
 */
import { fastifyPlugin } from "fastify-plugin";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#shared/clock.ts";
import { DaybookError } from "#shared/errors.ts";

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
    /** The headers for a client address, for answers that pass no hook. */
    rateHeaders(address: string): Record<string, number>;
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

  function rateOf(who: string, window: RateWindow, taken: number): Rate {
    const limit = limits[window];
    const { remaining, resetSeconds } = count(`${window} ${who}`, limit, taken);
    const headers = {
      "ratelimit-limit": limit,
      "ratelimit-remaining": Math.max(0, remaining),
      "ratelimit-reset": resetSeconds,
    };
    return { headers, limit, resetSeconds, isOver: remaining < 0 };
  }

  const nameOf = (request: FastifyRequest): string => request.caller?.keyId ?? `address ${request.ip}`;

  app.decorate("takeRate", (request: FastifyRequest, reply: FastifyReply, window: RateWindow): void => {
    const { headers, limit, resetSeconds, isOver } = rateOf(nameOf(request), window, 1);
    void reply.headers(headers);
    if (isOver) {
      const message = `The limit of ${limit} requests a minute is reached.`;
      throw new DaybookError("rate_limited", message, { retryAfterMs: resetSeconds * 1000 });
    }
  });

  app.decorate("rateHeaders", (address: string) => rateOf(`address ${address}`, "ordinary", 0).headers);

  // Requests that came to an end before they were counted. A body that could not be read cost its caller a request all the same.
  app.addHook("onSend", async (request, reply) => {
    if (reply.hasHeader("ratelimit-limit")) return;
    void reply.headers(rateOf(nameOf(request), "ordinary", request.caller ? 1 : 0).headers);
  });
});

interface Rate {
  headers: Record<string, number>;
  limit: number;
  resetSeconds: number;
  isOver: boolean;
}
