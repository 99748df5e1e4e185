/** Metrics and profiles of events, and references to them. */
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import type { Metric as MetricMessage } from "#proto/daybook/metric/v1/metric_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { requireScope } from "../../plugins/authentication.ts";
import { metricResource } from "../convert/metrics.ts";
import type { CompatExchange } from "../exchange.ts";
import { findEvent } from "../find.ts";
import { findProfile, toProfileResources } from "../profiles.ts";
import { answerDocument } from "../reply.ts";
import { Metric, Profile, Reference } from "../resources.ts";
import { operation, route } from "../operation.ts";
import { pick } from "../sparse.ts";

const metricOf = operation("events:read", {
  id: "compatGetEventMetric",
  summary: "Read the metric of an event",
  description: "Needs the scope `metrics:read` too.",
  query: { fields: ["metric"] },
  data: Metric,
  success: { 200: "The metric" },
});

const profileOf = operation("events:read", {
  id: "compatGetEventProfile",
  summary: "Read the profile of an event",
  description: "Needs the scope `profiles:read` too.",
  query: { fields: ["profile"], additional: ["subscriptions", "predictive_analytics"] },
  data: Profile,
  success: { 200: "The profile" },
});

const metricIdOf = operation("events:read", {
  id: "compatGetEventMetricId",
  summary: "Read the id of an event's metric",
  description: "A metric follows its first event by a moment: until then it is null.",
  query: {},
  data: Reference,
  mayBeNull: true,
  success: { 200: "Its id" },
});

const profileIdOf = operation("events:read", {
  id: "compatGetEventProfileId",
  summary: "Read the id of an event's profile",
  description: "Null while the event is nobody's.",
  query: {},
  data: Reference,
  mayBeNull: true,
  success: { 200: "Its id" },
});

export const eventRelationRoutes = [
  route("GET", "/events/:id/metric", metricOf, async (exchange) => {
    const { caller, reply, query, links } = exchange;
    requireScope(caller, "metrics:read");
    const metric = await findMetricOf(exchange, await findEvent(exchange));
    if (!metric) throw new DaybookError("resource_not_found", "This event has no metric yet.", { param: "id" });
    const data = pick(metricResource(metric, links.to(`/metrics/${metric.id}`)), query);
    return answerDocument(reply, 200, { data, links: links.self() });
  }),

  route("GET", "/events/:id/profile", profileOf, async (exchange) => {
    const { caller, reply, links } = exchange;
    requireScope(caller, "profiles:read");
    const { profileId } = await findEvent(exchange);
    if (profileId === undefined) {
      throw new DaybookError("resource_not_found", "This event has no profile.", { param: "id" });
    }
    const [data] = await toProfileResources(exchange, [await findProfile(exchange, profileId, "id")]);
    return answerDocument(reply, 200, { data: data ?? null, links: links.self() });
  }),

  route("GET", "/events/:id/relationships/metric", metricIdOf, async (exchange) => {
    const { reply, links } = exchange;
    const event = await findEvent(exchange);
    const metric = await findMetricOf(exchange, event);
    const related = links.to(`/events/${event.id}/metric`).self;
    const data = metric ? { type: "metric", id: metric.id } : null;
    return answerDocument(reply, 200, { data, links: { ...links.self(), related } });
  }),

  route("GET", "/events/:id/relationships/profile", profileIdOf, async (exchange) => {
    const { reply, links } = exchange;
    const { id, profileId } = await findEvent(exchange);
    const related = links.to(`/events/${id}/profile`).self;
    const data = profileId === undefined ? null : { type: "profile", id: profileId };
    return answerDocument(reply, 200, { data, links: { ...links.self(), related } });
  }),
];

async function findMetricOf(
  { propertyId, services }: CompatExchange,
  { type }: Event,
): Promise<MetricMessage | undefined> {
  const { metrics } = await services.metrics.getMetrics({ propertyId, names: [type] });
  return metrics[0];
}
