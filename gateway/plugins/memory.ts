/**
 * Limits the memory of each key and of all keys: bodies in processing, answers that clients have not read, and list
 * pages being made. Requests without a key are counted by client address.
 */
import { fastifyPlugin } from "fastify-plugin";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Gauge, type Registry } from "prom-client";
import { DaybookError } from "#shared/values/errors.ts";
import { createFairShare } from "#shared/scheduling/fair-share.ts";
import { createBytesUnderWay, type Shortage } from "../bytes-under-way.ts";
import { clientOf } from "#shared/values/client-address.ts";
import { listShare, type ByteLimits, type PageLimits } from "../listener/limits.ts";

declare module "fastify" {
  interface FastifyRequest {
    /**
     * Counts bytes of a body without Content-Length, or after inflation.
     * @throws DaybookError `rate_limited` or `service_unavailable`
     */
    countBody: ((bytes: number) => void) | null;
    /** Counts bytes of the answer. */
    countAnswer: ((bytes: number) => void) | null;
  }
}

const retryAfterMs = 1_000;
// Longer than the calls of a list may take.
const madeMsMax = 30_000;

export interface MemoryOptions {
  bytes: ByteLimits;
  pages: PageLimits;
  registry: Registry;
}

export const memoryPlugin = fastifyPlugin<MemoryOptions>((app, { bytes, pages, registry }) => {
  const { bodyBytesPerKeyMax, bodyBytesMax, answerBytesPerKeyMax, answerBytesMax } = bytes;
  const bodies = createBytesUnderWay({ perHolderMax: bodyBytesPerKeyMax, allMax: bodyBytesMax });
  const answers = createBytesUnderWay({ perHolderMax: answerBytesPerKeyMax, allMax: answerBytesMax });
  showMetrics(registry, { bodies: () => bodies.total, answers: () => answers.total });
  app.decorateRequest("countBody", null);
  app.decorateRequest("countAnswer", null);
  app.addHook("onRequest", async (request, reply) => {
    const holder = holderOf(request);
    const short = answers.shortage(holder, 0);
    if (short) throw refusal(short, "answers that are not read");
    let bodyBytes = 0;
    let answerBytes = 0;
    // Once the connection is closed nothing is counted, because nothing would subtract it.
    let isOver = reply.raw.destroyed;
    const countBody = (more: number): void => {
      const tooMany = bodies.shortage(holder, more);
      if (tooMany) throw refusal(tooMany, "bodies under way");
      if (isOver) return;
      bodies.add(holder, more);
      bodyBytes += more;
    };
    request.countBody = countBody;
    request.countAnswer = (more) => {
      if (isOver) return;
      answers.add(holder, more);
      answerBytes += more;
    };
    // The request holds its body, and the socket the answer, until the connection closes.
    reply.raw.once("close", () => {
      isOver = true;
      bodies.add(holder, -bodyBytes);
      answers.add(holder, -answerBytes);
    });
    const announced = Number(request.headers["content-length"] ?? 0);
    // A longer body is refused unread for its length.
    if (announced <= request.routeOptions.bodyLimit) countBody(announced);
  });
  app.addHook("onSend", async (request, _reply, payload) => {
    if (typeof payload === "string" || Buffer.isBuffer(payload)) request.countAnswer?.(Buffer.byteLength(payload));
  });
  // Registered after that hook, so that the bytes of a page are counted before its slot is released.
  limitPages(app, pages, (holder) => answers.shortage(holder, 0, listShare));
});

/** Queues list pages by key, and refuses them while the key has left too many pages unread. */
function limitPages(app: FastifyInstance, limits: PageLimits, shortage: (holder: string) => Shortage | undefined) {
  const turns = createFairShare({
    slotsMax: limits.pagesMax,
    slotsPerKeyMax: limits.pagesPerKeyMax,
    waitingMax: limits.waitingMax,
    waitingPerKeyMax: limits.waitingPerKeyMax,
    waitMsMax: limits.waitMsMax,
    refusal: () => refusal("holder", "pages of lists being made"),
  });
  const ends = new WeakMap<FastifyRequest, () => void>();
  app.addHook("preHandler", async (request, reply) => {
    if (!request.routeOptions.config.operation?.list) return;
    if (reply.raw.destroyed) throw clientGone();
    const gone = new AbortController();
    reply.raw.once("close", () => {
      gone.abort(clientGone());
      // The page is still made after its client has gone and keeps its slot; the timeout frees the slot if it never
      // ends.
      if (ends.has(request)) setTimeout(() => ends.get(request)?.(), madeMsMax).unref();
    });
    const holder = holderOf(request);
    await new Promise<void>((begin, reject) => {
      const work = (): Promise<void> =>
        new Promise((end) => {
          ends.set(request, end);
          begin();
        });
      turns.run(holder, work, gone.signal).catch(reject);
    });
    const short = shortage(holder);
    if (short) throw refusal(short, "pages of lists that are not read");
  });
  app.addHook("onSend", async (request) => {
    ends.get(request)?.();
    ends.delete(request);
  });
}

function holderOf({ caller, ip }: FastifyRequest): string {
  return caller?.callerId ?? clientOf(ip);
}

/** The client never reads this error. */
function clientGone(): DaybookError {
  return new DaybookError("bad_request", "The connection was closed before the answer.");
}

function refusal(shortage: Shortage, what: string): DaybookError {
  if (shortage === "all") {
    const message = `The gateway has too many ${what} for the moment. Try again.`;
    return new DaybookError("service_unavailable", message);
  }
  const message =
    `There are too many ${what} for this key or app. Read the answers of earlier requests, send fewer at a time, ` +
    "and try again.";
  return new DaybookError("rate_limited", message, { retryAfterMs });
}

function showMetrics(registry: Registry, totals: Record<string, () => number>): void {
  const gauge = new Gauge({
    name: "daybook_http_bytes_under_way",
    help: "Bytes of bodies that are arriving or being worked on, and of answers that are not taken.",
    labelNames: ["kind"],
    registers: [registry],
    collect() {
      for (const [kind, total] of Object.entries(totals)) gauge.set({ kind }, total());
    },
  });
}
