import type { FastifyRequest } from "fastify";
import type { Event as EventMessage } from "#proto/daybook/event/v1/event_pb.ts";
import type { Metric } from "#proto/daybook/metric/v1/metric_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { calling, callOptions } from "#shared/rpc/interceptors.ts";
import { fromTimestamp, toTimestamp } from "#shared/values/time.ts";
import { requireScope } from "../../plugins/authentication.ts";
import { callerOf, callOf, readOptions } from "../../plugins/request.ts";
import type { CompatContext } from "../context.ts";
import { eventResource } from "../convert/event-out.ts";
import { toId } from "../convert/ids.ts";
import { metricResource } from "../convert/metrics.ts";
import { comparisons, InstantRange } from "../convert/ranges.ts";
import { readTime } from "../convert/times.ts";
import type { Condition } from "../filter.ts";
import { findEvent } from "../find.ts";
import type { Links } from "../links.ts";
import { toProfileResources } from "../profiles.ts";
import type { Query } from "../query.ts";
import { sendDocument, type Resource } from "../reply.ts";
import { Event } from "../resources.ts";
import type { Router } from "../router.ts";
import { pick } from "../sparse.ts";

const includes = ["attributions", "metric", "profile"];
// As they were called up to revision 2023-06-15.
const includeAliases = { metrics: "metric", profiles: "profile" };
const fields = ["event", "metric", "profile", "attribution"];

const list = {
  id: "compatListEvents",
  summary: "List events",
  query: {
    filters: {
      metric_id: ["equals"],
      profile_id: ["equals"],
      metric: ["has"],
      profile: ["has"],
      datetime: comparisons,
      timestamp: comparisons,
    },
    sorts: ["datetime", "timestamp"],
    sortDefault: "-datetime",
    page: { sizeDefault: 200, sizeMax: 1000 },
    includes,
    includeAliases,
    fields,
  },
  data: Event,
  list: true,
  success: { 200: "A page of events" },
} as const;

const read = {
  id: "compatGetEvent",
  summary: "Read an event",
  query: { includes, includeAliases, fields },
  data: Event,
  success: { 200: "The event" },
} as const;

export function eventRoutes(router: Router, context: CompatContext): void {
  const { clients } = context;

  router.route("GET", "/events", "events:read", list, async ({ request, reply, query, links }) => {
    const { propertyId } = callerOf(request);
    const wanted = await readConditions(request, query.conditions);
    const after = query.after?.split(" ");
    const found =
      wanted === undefined
        ? { events: [], hasMore: false }
        : await calling(
            clients.events.listEvents(
              {
                propertyId,
                ...wanted.request,
                // The other platform has no such events; who asks for them by their metric is given them.
                withoutSystem: wanted.request.type === undefined,
                ascending: query.sort.ascending !== query.backwards,
                limit: query.size,
                ...(after ? { after: { time: toTimestamp(Number(after[0])), eventId: after[1] ?? "" } } : {}),
              },
              readOptions(request, reply),
            ),
          );
    const events = query.backwards ? found.events.toReversed() : found.events;
    const { next, prev } = query.pagesAround(placeOf(events[0]), placeOf(events.at(-1)), found.hasMore);
    const shown = wanted?.hasProfile ? events.filter(({ profileId }) => profileId !== undefined) : events;
    const { data, included } = await toResources(request, shown, query, links);
    return sendDocument(reply, 200, { data, ...included, links: links.page(next, prev) });
  });

  router.route("GET", "/events/:id", "events:read", read, async (exchange) => {
    const { request, reply, query, links } = exchange;
    const found = await findEvent(context, exchange);
    const { data, included } = await toResources(request, [found], query, links);
    const [event = null] = data;
    return sendDocument(reply, 200, { data: event, ...included, links: links.self() });
  });

  /** Makes of filters what is asked for; undefined when there can be nothing. */
  async function readConditions(request: FastifyRequest, conditions: readonly Condition[]) {
    const range = new InstantRange();
    let profileId: string | undefined;
    let metricId: string | undefined;
    let hasProfile = false;
    for (const { operator, field, values } of conditions) {
      const [value = ""] = values;
      if (field === "profile_id" || field === "metric_id") {
        const id = toId(field === "profile_id" ? "prof" : "mtr", value);
        const before = field === "profile_id" ? profileId : metricId;
        // Nothing is of two.
        if (id === undefined || (before !== undefined && before !== id)) return undefined;
        if (field === "profile_id") profileId = id;
        else metricId = id;
      } else if (field === "profile") hasProfile = true;
      else if (field !== "metric") range.narrow(operator, readInstant(field, value));
    }
    const type = metricId === undefined ? undefined : (await readMetrics(request, { metricIds: [metricId] }))[0]?.name;
    if (metricId !== undefined && type === undefined) return undefined;
    return {
      hasProfile,
      request: {
        ...(range.isOpen ? {} : { occurredAt: range.toMessage() }),
        profileId,
        type,
      },
    };
  }

  async function readMetrics(
    request: FastifyRequest,
    asked: { metricIds?: string[]; names?: string[] },
  ): Promise<Metric[]> {
    const { propertyId } = callerOf(request);
    return (await calling(clients.metrics.getMetrics({ propertyId, ...asked }, callOptions(callOf(request))))).metrics;
  }

  /** Makes resources of events, and of what is to be included with them, for which the scope of that is needed. */
  async function toResources(
    request: FastifyRequest,
    events: readonly EventMessage[],
    query: Query,
    links: Links,
  ): Promise<{ data: Resource[]; included: { included?: Resource[] } }> {
    const caller = callerOf(request);
    if (query.includes.has("profile")) requireScope(caller, "profiles:read");
    if (query.includes.has("metric")) requireScope(caller, "metrics:read");
    const names = [...new Set(events.map(({ type }) => type))];
    const profileIds = [...new Set(events.flatMap(({ profileId }) => (profileId === undefined ? [] : [profileId])))];
    const { propertyId } = caller;
    const [metrics, profiles] = await Promise.all([
      names.length > 0 ? readMetrics(request, { names }) : [],
      query.includes.has("profile") && profileIds.length > 0
        ? calling(clients.profiles.getProfiles({ propertyId, profileIds }, callOptions(callOf(request))))
        : undefined,
    ]);
    const metricIds = new Map(metrics.map(({ name, id }) => [name, id]));
    const data = events.map((event) =>
      pick(eventResource(event, metricIds.get(event.type), links.to(`/events/${event.id}`)), query),
    );
    if (query.includes.size === 0) return { data, included: {} };
    const included = [
      ...(query.includes.has("metric")
        ? metrics.map((metric) => pick(metricResource(metric, links.to(`/metrics/${metric.id}`)), query))
        : []),
      ...(profiles ? await toProfileResources(context, request, profiles.profiles, query, links) : []),
    ];
    return { data, included: { included } };
  }
}

/** Where an event stands in a list. */
function placeOf(event: EventMessage | undefined): string | undefined {
  return event?.occurredAt && `${fromTimestamp(event.occurredAt)} ${event.id}`;
}

function readInstant(field: string, value: string): number {
  const micros =
    field === "timestamp" && /^-?\d{1,12}(?:\.\d+)?$/.test(value)
      ? Math.round(Number(value) * 1_000_000)
      : readTime(value);
  if (micros !== undefined) return micros;
  const message = `${field} is compared with ${field === "timestamp" ? "seconds since 1970" : "an ISO 8601 date-time"}.`;
  throw new DaybookError("unsupported_filter", message, { param: "filter" });
}
