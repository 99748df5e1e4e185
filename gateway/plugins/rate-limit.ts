/**
 * Rate limits: fixed windows of a minute by key, as rate/shares.ts keeps them. Requests without a good key have a window by client address,
 * counted in this process.
 */
import { fastifyPlugin } from "fastify-plugin";
import type { FastifyReply, FastifyRequest } from "fastify";
import { DaybookError } from "#shared/errors.ts";
import type { Rate, RateLimits, RateWindow } from "../rate/limits.ts";
import type { RateShares } from "../rate/shares.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Which window it is taken from, when the body decides that. */
    rateByBody?: (body: unknown) => RateWindow;
  }
  interface FastifyInstance {
    /**
     * Takes one request from a window.
     * @throws DaybookError `rate_limited`, or `service_unavailable` when nobody can tell
     */
    takeRate(request: FastifyRequest, reply: FastifyReply, window: RateWindow): Promise<void>;
    /** Takes a request that failed before it was counted, and returns what to answer: what it failed with, or that it is one too many. */
    settleRate(request: FastifyRequest, reply: FastifyReply, error: unknown): Promise<unknown>;
    /** The headers for a client address, for answers that pass no hook. */
    rateHeaders(address: string): Record<string, number>;
  }
}

// Windows of client addresses that are kept apart; the addresses beyond share one.
const windowsMax = 100_000;

export const rateLimitPlugin = fastifyPlugin<{ limits: RateLimits; shares: RateShares }>((app, { limits, shares }) => {
  let windowNumber = 0;
  let counts = new Map<string, number>();

  /** Counts `taken` requests of a client address. */
  function countAddress(address: string, taken: number): Rate {
    const { number, resetSeconds } = shares.clock.now();
    if (number !== windowNumber) {
      windowNumber = number;
      counts = new Map();
    }
    const limit = limits.ordinary;
    const key = counts.size < windowsMax || counts.has(address) ? address : "others";
    const used = (counts.get(key) ?? 0) + taken;
    if (taken > 0 && used <= limit) counts.set(key, used);
    return { limit, remaining: Math.max(0, limit - used), resetSeconds, isOver: used > limit };
  }

  app.decorate("takeRate", async (request: FastifyRequest, reply: FastifyReply, window: RateWindow): Promise<void> => {
    const { caller } = request;
    try {
      const rate = caller ? await shares.take(caller, window) : countAddress(request.ip, 1);
      void reply.headers(toHeaders(rate));
      if (rate.isOver) {
        const message = `The limit of ${rate.limit} requests a minute is reached.`;
        throw new DaybookError("rate_limited", message, { retryAfterMs: rate.resetSeconds * 1000 });
      }
    } catch (error) {
      if (caller && !reply.hasHeader("ratelimit-limit")) void reply.headers(toHeaders(shares.peek(caller, window)));
      throw error;
    }
  });

  app.addHook("preHandler", async (request, reply) => {
    const { rateByBody } = request.routeOptions.config;
    if (rateByBody && request.caller) await app.takeRate(request, reply, rateByBody(request.body));
  });

  // A body that could not be read cost its caller a request all the same.
  app.decorate("settleRate", async (request: FastifyRequest, reply: FastifyReply, error: unknown): Promise<unknown> => {
    if (!request.caller || reply.hasHeader("ratelimit-limit")) return error;
    try {
      await app.takeRate(request, reply, "ordinary");
      return error;
    } catch (refusal) {
      return refusal;
    }
  });

  app.decorate("rateHeaders", (address: string) => toHeaders(countAddress(address, 0)));

  // What is not counted: paths that there are not, and those that ask for no key.
  app.addHook("onSend", async (request, reply) => {
    if (!reply.hasHeader("ratelimit-limit")) void reply.headers(app.rateHeaders(request.ip));
  });
});

function toHeaders({ limit, remaining, resetSeconds }: Rate): Record<string, number> {
  return { "ratelimit-limit": limit, "ratelimit-remaining": remaining, "ratelimit-reset": resetSeconds };
}
