/** Rate limits: fixed windows of a minute by key (rate/shares.ts), and by client address without a good key. */
import { fastifyPlugin } from "fastify-plugin";
import type { FastifyReply, FastifyRequest } from "fastify";
import { DaybookError } from "#shared/values/errors.ts";
import type { AddressWindows } from "../rate/address-windows.ts";
import type { Rate, RateWindow } from "../rate/limits.ts";
import type { RateShares } from "../rate/shares.ts";
import { callerOf } from "./request.ts";

declare module "fastify" {
  interface FastifyInstance {
    /**
     * Takes one request from a window of its key.
     * @throws DaybookError `rate_limited`, or `service_unavailable` when no share could be leased
     */
    takeRate(request: FastifyRequest, reply: FastifyReply, window: RateWindow): Promise<void>;
    /**
     * Takes a request without a good key from the window of its client address and sets the rate headers.
     * @throws DaybookError `rate_limited`
     */
    takeGuess(request: FastifyRequest, reply: FastifyReply): void;
    /** Undoes takeGuess for a request that was not shown to be a guess. */
    returnGuess(request: FastifyRequest, reply: FastifyReply): void;
    /** Counts a failed request unless it is counted. @returns its error, or the error that the limit is reached. */
    settleRate(request: FastifyRequest, reply: FastifyReply, error: unknown): Promise<unknown>;
    /** Rate headers of a client address, for answers that pass no hook. */
    rateHeaders(address: string): Record<string, number>;
  }
}

export interface RateLimitOptions {
  shares: RateShares;
  addresses: AddressWindows;
}

export const rateLimitPlugin = fastifyPlugin<RateLimitOptions>((app, { shares, addresses }) => {
  function settle(reply: FastifyReply, rate: Rate): void {
    void reply.headers(toHeaders(rate));
    if (!rate.isOver) return;
    const message = `The limit of ${rate.limit} requests a minute is reached.`;
    throw new DaybookError("rate_limited", message, { retryAfterMs: rate.resetSeconds * 1000 });
  }

  app.decorate("takeGuess", (request: FastifyRequest, reply: FastifyReply) =>
    settle(reply, addresses.take(request.ip)),
  );
  app.decorate("returnGuess", (request: FastifyRequest, reply: FastifyReply) => {
    addresses.giveBack(request.ip);
    for (const name of rateHeaderNames) void reply.removeHeader(name);
  });

  app.decorate("takeRate", async (request: FastifyRequest, reply: FastifyReply, window: RateWindow): Promise<void> => {
    const caller = callerOf(request);
    try {
      settle(reply, await shares.take(caller, window));
    } catch (error) {
      if (!reply.hasHeader("ratelimit-limit")) void reply.headers(toHeaders(shares.peek(caller, window)));
      throw error;
    }
  });

  app.addHook("preHandler", async (request, reply) => {
    const { rateByBody } = request.routeOptions.config.operation ?? {};
    if (rateByBody && request.caller) await app.takeRate(request, reply, rateByBody(request.body));
  });

  // A request whose body could not be read counts too.
  app.decorate("settleRate", async (request: FastifyRequest, reply: FastifyReply, error: unknown): Promise<unknown> => {
    if (!request.caller || reply.hasHeader("ratelimit-limit")) return error;
    try {
      await app.takeRate(request, reply, "ordinary");
      return error;
    } catch (refusal) {
      return refusal;
    }
  });

  app.decorate("rateHeaders", (address: string) => toHeaders(addresses.peek(address)));

  // Unknown paths and routes without a key are not counted.
  app.addHook("onSend", async (request, reply) => {
    if (!reply.hasHeader("ratelimit-limit")) void reply.headers(app.rateHeaders(request.ip));
  });
});

const rateHeaderNames = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"] as const;

function toHeaders({ limit, remaining, resetSeconds }: Rate): Record<string, number> {
  return { "ratelimit-limit": limit, "ratelimit-remaining": remaining, "ratelimit-reset": resetSeconds };
}
