/**
 * Keeps each key, and all together, from taking more of the gateway's memory than is theirs: by bodies that are arriving or being worked on, by answers
 * that their clients have not taken, and by pages of lists that are being made. Requests without a key are counted by client address.
 */
import { fastifyPlugin } from "fastify-plugin";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Gauge, type Registry } from "prom-client";
import { DaybookError } from "#shared/values/errors.ts";
import { createFairShare } from "#shared/scheduling/fair-share.ts";
import { createBytesUnderWay, type BytesUnderWay, type Shortage } from "../bytes-under-way.ts";
import { clientOf } from "../listener/addresses.ts";
import { listShare, type ByteLimits, type PageLimits } from "../listener/limits.ts";

declare module "fastify" {
  interface FastifyRequest {
    /**
     * Counts bytes of a body that arrive without having been announced.
     * @throws DaybookError `rate_limited` or `service_unavailable`
     */
    countBody: ((bytes: number) => void) | null;
  }
}

const retryAfterMs = 1_000;
// Longer than any call to a service may take.
const madeMsMax = 30_000;

/** What the plugin works with. */
export interface MemoryOptions {
  bytes: ByteLimits;
  pages: PageLimits;
  registry: Registry;
}

export const memoryPlugin = fastifyPlugin<MemoryOptions>((app, { bytes, pages, registry }) => {
  const { bodyBytesPerKeyMax, bodyBytesMax, answerBytesPerKeyMax, answerBytesMax } = bytes;
  const bodies = createBytesUnderWay({ perHolderMax: bodyBytesPerKeyMax, allMax: bodyBytesMax });
  const answers = createBytesUnderWay({ perHolderMax: answerBytesPerKeyMax, allMax: answerBytesMax });
  const holdAnswer = new WeakMap<FastifyRequest, (bytes: number) => void>();
  showMetrics(registry, { bodies: () => bodies.total, answers: () => answers.total });
  app.decorateRequest("countBody", null);
  app.addHook("onRequest", async (request, reply) => {
    const holder = holderOf(request);
    const short = answers.shortage(holder, 0);
    if (short) throw refusal(short, "answers that are not read");
    const held = new Map([bodies, answers].map((kind) => [kind, 0]));
    // What its client has left takes nothing any more: nobody would give it back.
    let isOver = reply.raw.destroyed;
    const hold = (kind: BytesUnderWay, more: number): void => {
      if (isOver) return;
      kind.add(holder, more);
      held.set(kind, (held.get(kind) ?? 0) + more);
    };
    const countBody = (more: number): void => {
      const tooMany = bodies.shortage(holder, more);
      if (tooMany) throw refusal(tooMany, "bodies under way");
      hold(bodies, more);
    };
    request.countBody = countBody;
    holdAnswer.set(request, (more) => hold(answers, more));
    // The request keeps its body until then, and the socket the answer.
    reply.raw.once("close", () => {
      isOver = true;
      for (const [kind, count] of held) kind.add(holder, -count);
    });
    const announced = Number(request.headers["content-length"] ?? 0);
    // One that is longer is refused for that, unread.
    if (announced <= request.routeOptions.bodyLimit) countBody(announced);
  });
  app.addHook("onSend", async (request, _reply, payload) => {
    if (typeof payload === "string" || Buffer.isBuffer(payload)) holdAnswer.get(request)?.(Buffer.byteLength(payload));
  });
  // Behind that: when the turn of a page ends, its bytes are counted.
  limitPages(app, pages, (holder) => answers.shortage(holder, 0, listShare));
});

/** Lets a page of a list be made only when it is its key's turn, and its key has not left too many pages unread. */
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
      // A page that is being made goes on without its client, and its turn with it; but not for good, should it never come to its end.
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
  return caller?.keyId ?? clientOf(ip);
}

/** Nobody reads it. */
function clientGone(): DaybookError {
  return new DaybookError("bad_request", "The connection was closed before the answer.");
}

function refusal(shortage: Shortage, what: string): DaybookError {
  if (shortage === "all") {
    const message = `The gateway has too many ${what} for the moment. Try again.`;
    return new DaybookError("service_unavailable", message);
  }
  const message = `There are too many ${what} for this key. Read the answers of earlier requests, send fewer at a time, and try again.`;
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
