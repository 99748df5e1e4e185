/** The live stream of a property's events: server-sent events, as the HTML standard has them. */
import { PassThrough } from "node:stream";
import { toJson } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyReply } from "fastify";
import { Gauge, type Registry } from "prom-client";
import { EventSchema, type Event } from "#proto/daybook/event/v1/event_pb.ts";
import { metricOf } from "#shared/process/metrics.ts";
import { DaybookError, serviceUnavailable } from "#shared/values/errors.ts";
import { isId } from "#shared/values/ids.ts";
import { formatTimestamp } from "#shared/values/time.ts";
import type { DashboardContext } from "../context.ts";
import type { Visit } from "../entrance.ts";
import { missingRight, noSuchProperty } from "../refusal.ts";
import { checkSameOrigin } from "../same-origin.ts";
import { rightsIn } from "../sessions.ts";
import { createFeeds, type Feeds, type Filter, type Frame, type Watcher } from "./feed.ts";
import { readPosition, writePosition } from "./position.ts";

type EndReason = "shutdown" | "signed_out" | "forbidden";

const streamsPerMemberMax = 20;
const streamsMax = 500;
const right = "events:read";
const heartbeatMs = 15_000;
// The session is looked up this often, and not from further back: it ends at most 5 seconds before its streams.
const checkMs = 2_000;
const sessionAgeMsMax = 2_500;
// Time for a browser to take a frame.
const stalledMsMax = 30_000;
// When a browser whose connection was lost comes back.
const retryMs = 2_000;
const textLengthMax = 255;

/** Everything that streams share. */
interface Streams {
  context: DashboardContext;
  feeds: Feeds;
  /** By member. */
  open: Map<string, number>;
  total: number;
}

export function liveRoutes(app: FastifyInstance, context: DashboardContext, registry: Registry): void {
  const streams: Streams = { context, feeds: createFeeds(context.clients, context.log), open: new Map(), total: 0 };
  metricOf(registry, Gauge, {
    name: "daybook_dashboard_streams",
    help: "Live streams of events that browsers have open.",
    collect(this: Gauge) {
      this.set(streams.total);
    },
  });
  app.get<{ Params: { property: string }; Querystring: Record<string, string | string[]> }>(
    "/dashboard/:property/live",
    {
      config: { isStream: true },
      exposeHeadRoute: false,
      onRequest: async (request, reply) => {
        checkSameOrigin(request);
        await context.entrance.enter(request, reply);
      },
    },
    async (request, reply) => {
      const visit = context.entrance.visitOf(request);
      const { property: propertyId } = request.params;
      checkRight(visit, propertyId);
      const query = (name: string): string | undefined => readText(name, request.query[name]);
      const filter = readFilter(propertyId, query);
      const after = readText("Last-Event-ID", request.headers["last-event-id"]) ?? query("after");
      const place = after === undefined ? undefined : readPosition(after);
      return openStream(streams, reply, { visit, filter, place });
    },
  );
}

/** @throws DaybookError `resource_not_found` or `missing_scope` */
function checkRight({ viewer }: Visit, propertyId: string): void {
  const rights = rightsIn(viewer, propertyId);
  if (!rights) throw noSuchProperty();
  if (!rights.has(right)) throw missingRight(right);
}

/** @throws DaybookError `parameter_invalid` */
function readText(name: string, value: string | string[] | undefined): string | undefined {
  if (value === undefined || value === "") return undefined;
  if (typeof value === "string" && value.length <= textLengthMax) return value;
  const message = `\`${name}\` must be sent once, with at most ${textLengthMax} characters.`;
  throw new DaybookError("parameter_invalid", message, { param: name });
}

/** @throws DaybookError `invalid_id` or `parameter_invalid` */
function readFilter(propertyId: string, query: (name: string) => string | undefined): Filter {
  if (!isId(propertyId)) throw noSuchProperty();
  const profileId = query("profile_id");
  if (profileId !== undefined && !(profileId.startsWith("prof_") && isId(profileId))) {
    throw new DaybookError("invalid_id", "`profile_id` must be the id of a profile.", { param: "profile_id" });
  }
  const withSystem = query("with_system") ?? "false";
  if (withSystem !== "true" && withSystem !== "false") {
    throw new DaybookError("parameter_invalid", "`with_system` must be true or false.", { param: "with_system" });
  }
  return { propertyId, profileId, type: query("type"), source: query("source"), withoutSystem: withSystem === "false" };
}

function openStream(
  streams: Streams,
  reply: FastifyReply,
  { visit, filter, place }: { visit: Visit; filter: Filter; place: Watcher["position"] },
): FastifyReply {
  const { context, feeds } = streams;
  const { leaving } = context.readiness;
  if (leaving.aborted) throw serviceUnavailable(new Error("the gateway is about to stop"));
  // A browser that left while its session was looked up emits no close any more.
  if (reply.raw.destroyed) throw serviceUnavailable(new Error("the browser has gone"));
  const { id: memberId } = visit.viewer.member;
  countStream(streams, memberId);

  const out = new PassThrough();
  const watcher = createWatcher(out, place);
  const leave = feeds.watch(filter, watcher);
  const end = (reason: EndReason): void => {
    out.end(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
    leave();
  };
  const onShutdown = (): void => end("shutdown");
  leaving.addEventListener("abort", onShutdown, { once: true });
  const timers = [
    setInterval(() => watcher.beat(), heartbeatMs),
    setInterval(() => {
      if (watcher.stalledMs > stalledMsMax) reply.raw.destroy();
      else void checkSession(context, visit, filter).then((reason) => reason && end(reason));
    }, checkMs),
  ];
  reply.raw.once("close", () => {
    leave();
    for (const timer of timers) clearInterval(timer);
    leaving.removeEventListener("abort", onShutdown);
    out.destroy();
    uncountStream(streams, memberId);
  });
  out.write(`retry: ${retryMs}\n\n`);
  return reply
    .headers({ "cache-control": "no-store", "x-accel-buffering": "no", "cross-origin-resource-policy": "same-origin" })
    .type("text/event-stream; charset=utf-8")
    .send(out);
}

/** Why a stream must end, if it must. Without an answer of the identity service it goes on. */
async function checkSession(
  { sessions }: DashboardContext,
  { token }: Visit,
  { propertyId }: Filter,
): Promise<EndReason | undefined> {
  try {
    const viewer = await sessions.find(token, sessionAgeMsMax);
    if (!viewer) return "signed_out";
    return rightsIn(viewer, propertyId)?.has(right) ? undefined : "forbidden";
  } catch {
    return undefined;
  }
}

/** @throws DaybookError `rate_limited` */
function countStream(streams: Streams, memberId: string): void {
  const open = streams.open.get(memberId) ?? 0;
  if (open >= streamsPerMemberMax || streams.total >= streamsMax) {
    const message = "There are too many live streams. Close other tabs of the dashboard and try again.";
    throw new DaybookError("rate_limited", message, { retryAfterMs: 10_000 });
  }
  streams.open.set(memberId, open + 1);
  streams.total++;
}

function uncountStream(streams: Streams, memberId: string): void {
  const left = (streams.open.get(memberId) ?? 1) - 1;
  if (left > 0) streams.open.set(memberId, left);
  else streams.open.delete(memberId);
  streams.total--;
}

interface StreamWatcher extends Watcher {
  /** How long the browser has not taken what it was sent. */
  readonly stalledMs: number;
  /** Says that the stream lives, and where it is, so that a browser that comes back reads nothing old. */
  beat(): void;
}

function createWatcher(out: PassThrough, place: Watcher["position"]): StreamWatcher {
  let fullSinceMs: number | undefined;
  const write = (text: string): void => {
    if (out.writableEnded || out.destroyed) return;
    if (!out.write(text)) fullSinceMs ??= performance.now();
  };
  out.on("drain", () => (fullSinceMs = undefined));
  const watcher: StreamWatcher = {
    position: place,
    get isReady() {
      return fullSinceMs === undefined && !out.writableEnded;
    },
    get stalledMs() {
      return fullSinceMs === undefined ? 0 : performance.now() - fullSinceMs;
    },
    take(frame) {
      const isBeginning = watcher.position === undefined;
      if (isBeginning) write(`event: start\nid: ${writePosition(frame.position)}\ndata: ${renderStart(frame)}\n\n`);
      else if (frame.events.length > 0 || frame.skipped > 0n) {
        write(`event: frame\nid: ${writePosition(frame.position)}\ndata: ${renderFrame(frame)}\n\n`);
      }
    },
    beat() {
      if (!watcher.isReady) return;
      write(watcher.position ? `: still here\nid: ${writePosition(watcher.position)}\n\n` : ": still here\n\n");
    },
  };
  return watcher;
}

function renderStart({ recordedUpTo }: Frame): string {
  return JSON.stringify({ recorded_up_to: recordedUpTo ? formatTimestamp(recordedUpTo) : null });
}

// Watchers of the same are given the same frame, which is rendered once for all of them.
const rendered = new WeakMap<Frame, string>();

function renderFrame(frame: Frame): string {
  const { events, skipped, recordedUpTo } = frame;
  let text = rendered.get(frame);
  if (text === undefined) {
    text = JSON.stringify({
      events: events.map(renderEvent),
      skipped: String(skipped),
      recorded_up_to: recordedUpTo ? formatTimestamp(recordedUpTo) : null,
    });
    rendered.set(frame, text);
  }
  return text;
}

/** An event without its properties, which may be large: who opens it reads them by GetEvents. */
function renderEvent(event: Event): object {
  const { propertiesJson: _left, ...shown } = toJson(EventSchema, event) as Record<string, unknown>;
  return shown;
}
