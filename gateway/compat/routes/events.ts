import type { Event as EventMessage } from "#proto/daybook/event/v1/event_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { fromTimestamp, toTimestamp } from "#shared/values/time.ts";
import { readRelated } from "../../surface/related.ts";
import { eventResource } from "../convert/event-out.ts";
import { toId } from "../convert/ids.ts";
import { metricResource } from "../convert/metrics.ts";
import { comparisons, InstantRange } from "../convert/ranges.ts";
import { readTime } from "../convert/times.ts";
import type { CompatExchange } from "../exchange.ts";
import { findEvent } from "../find.ts";
import { toProfileResources } from "../profiles.ts";
import { answerDocument, type Resource } from "../reply.ts";
import { Event } from "../resources.ts";
import { operation, route } from "../operation.ts";
import { pick } from "../sparse.ts";

const includes = ["attributions", "metric", "profile"];
// Names up to revision 2023-06-15.
const includeAliases = { metrics: "metric", profiles: "profile" };
const fields = ["event", "metric", "profile", "attribution"];

const list = operation("events:read", {
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
});

const read = operation("events:read", {
  id: "compatGetEvent",
  summary: "Read an event",
  query: { includes, includeAliases, fields },
  data: Event,
  success: { 200: "The event" },
});

export const eventRoutes = [
  route("GET", "/events", list, async (exchange) => {
    const { reply, query, links, propertyId, services } = exchange;
    const wanted = await readConditions(exchange);
    const [micros, eventId = ""] = query.after?.split(" ") ?? [];
    const found = wanted
      ? await services.events.listEvents({
          propertyId,
          ...wanted.request,
          // The other platform has no system events. They are returned only if the filter names their metric.
          withoutSystem: wanted.request.type === undefined,
          ascending: query.sort.ascending !== query.backwards,
          limit: query.size,
          after: micros === undefined ? undefined : { time: toTimestamp(Number(micros)), eventId },
        })
      : { events: [], hasMore: false };
    const events = query.backwards ? found.events.toReversed() : found.events;
    const { next, prev } = query.pagesAround(placeOf(events[0]), placeOf(events.at(-1)), found.hasMore);
    const shown = wanted?.hasProfile ? events.filter(({ profileId }) => profileId !== undefined) : events;
    const { data, included } = await toResources(exchange, shown);
    return answerDocument(reply, 200, { data, ...included, links: links.page(next, prev) });
  }),

  route("GET", "/events/:id", read, async (exchange) => {
    const found = await findEvent(exchange);
    const { data, included } = await toResources(exchange, [found]);
    const [event = null] = data;
    return answerDocument(exchange.reply, 200, { data: event, ...included, links: exchange.links.self() });
  }),
];

/** Converts filters to a request; undefined if nothing can match. */
async function readConditions({ query, propertyId, services }: CompatExchange) {
  const range = new InstantRange();
  let profileId: string | undefined;
  let metricId: string | undefined;
  let hasProfile = false;
  for (const { operator, field, values } of query.conditions) {
    const [value = ""] = values;
    if (field === "profile_id" || field === "metric_id") {
      const id = toId(field === "profile_id" ? "prof" : "mtr", value);
      const before = field === "profile_id" ? profileId : metricId;
      // No event has two profiles or metrics.
      if (id === undefined || (before !== undefined && before !== id)) return undefined;
      if (field === "profile_id") profileId = id;
      else metricId = id;
    } else if (field === "profile") hasProfile = true;
    else if (field !== "metric") range.narrow(operator, readInstant(field, value));
  }
  let type: string | undefined;
  if (metricId !== undefined) {
    const { metrics } = await services.metrics.getMetrics({ propertyId, metricIds: [metricId] });
    type = metrics[0]?.name;
    if (type === undefined) return undefined;
  }
  return { hasProfile, request: { occurredAt: range.isOpen ? undefined : range.toMessage(), profileId, type } };
}

/** Converts events to resources, with the included ones, which need a scope of their own. */
async function toResources(
  exchange: CompatExchange,
  events: readonly EventMessage[],
): Promise<{ data: Resource[]; included: { included?: Resource[] } }> {
  const { query, links } = exchange;
  const { profiles, metrics } = await readRelated(exchange, events, query.includes, { haveEvents: false });
  const metricIds = new Map(metrics.map(({ name, id }) => [name, id]));
  const data = events.map((event) =>
    pick(eventResource(event, metricIds.get(event.type), links.to(`/events/${event.id}`)), query),
  );
  if (query.includes.size === 0) return { data, included: {} };
  const included = [
    ...(query.includes.has("metric")
      ? metrics.map((metric) => pick(metricResource(metric, links.to(`/metrics/${metric.id}`)), query))
      : []),
    ...(await toProfileResources(exchange, profiles)),
  ];
  return { data, included: { included } };
}

/** The place of an event in a list, for cursors. */
function placeOf(event: EventMessage | undefined): string | undefined {
  return event?.occurredAt && `${fromTimestamp(event.occurredAt)} ${event.id}`;
}

function readInstant(field: string, value: string): number {
  const micros =
    field === "timestamp" && /^-?\d{1,12}(?:\.\d+)?$/.test(value)
      ? Math.round(Number(value) * 1_000_000)
      : readTime(value);
  if (micros !== undefined) return micros;
  const expected = field === "timestamp" ? "seconds since 1970" : "an ISO 8601 date-time";
  const message = `${field} is compared with ${expected}.`;
  throw new DaybookError("unsupported_filter", message, { param: "filter" });
}
