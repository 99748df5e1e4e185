/** What an event is related to, and the references to it. */
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import type { Metric as MetricMessage } from "#proto/daybook/metric/v1/metric_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { calling } from "#shared/rpc/interceptors.ts";
import { requireScope } from "../../plugins/authentication.ts";
import { callerOf, readOptions } from "../../plugins/request.ts";
import type { CompatContext } from "../context.ts";
import { metricResource } from "../convert/metrics.ts";
import { findEvent } from "../find.ts";
import { findProfile, toProfileResources } from "../profiles.ts";
import { sendDocument } from "../reply.ts";
import { Metric, Profile, Reference } from "../resources.ts";
import type { Exchange, Router } from "../router.ts";
import { pick } from "../sparse.ts";

const metricOf = {
  id: "compatGetEventMetric",
  summary: "Read the metric of an event",
  description: "Needs the scope `metrics:read` too.",
  query: { fields: ["metric"] },
  data: Metric,
  success: { 200: "The metric" },
};

const profileOf = {
  id: "compatGetEventProfile",
  summary: "Read the profile of an event",
  description: "Needs the scope `profiles:read` too.",
  query: { fields: ["profile"], additional: ["subscriptions", "predictive_analytics"] },
  data: Profile,
  success: { 200: "The profile" },
};

const metricIdOf = {
  id: "compatGetEventMetricId",
  summary: "Read the id of an event's metric",
  description: "A metric follows its first event by a moment: until then it is null.",
  query: {},
  data: Reference,
  mayBeNull: true,
  success: { 200: "Its id" },
} as const;

const profileIdOf = {
  id: "compatGetEventProfileId",
  summary: "Read the id of an event's profile",
  description: "Null while the event is nobody's.",
  query: {},
  data: Reference,
  mayBeNull: true,
  success: { 200: "Its id" },
} as const;

export function eventRelationRoutes(router: Router, context: CompatContext): void {
  const { clients } = context;

  router.route("GET", "/events/:id/metric", "events:read", metricOf, async (exchange) => {
    const { request, reply, query, links } = exchange;
    requireScope(callerOf(request), "metrics:read");
    const metric = await findMetricOf(exchange, await findEvent(context, exchange));
    if (!metric) throw new DaybookError("resource_not_found", "This event has no metric yet.", { param: "id" });
    const data = pick(metricResource(metric, links.to(`/metrics/${metric.id}`)), query);
    return sendDocument(reply, 200, { data, links: links.self() });
  });

  router.route("GET", "/events/:id/profile", "events:read", profileOf, async (exchange) => {
    const { request, reply, query, links } = exchange;
    requireScope(callerOf(request), "profiles:read");
    const { profileId } = await findEvent(context, exchange);
    if (profileId === undefined) {
      throw new DaybookError("resource_not_found", "This event has no profile.", { param: "id" });
    }
    const profile = await findProfile(context, request, profileId, "id");
    const [data] = await toProfileResources(context, request, [profile], query, links);
    return sendDocument(reply, 200, { data: data ?? null, links: links.self() });
  });

  router.route("GET", "/events/:id/relationships/metric", "events:read", metricIdOf, async (exchange) => {
    const { reply, links } = exchange;
    const event = await findEvent(context, exchange);
    const metric = await findMetricOf(exchange, event);
    const related = links.to(`/events/${event.id}/metric`).self;
    const data = metric ? { type: "metric", id: metric.id } : null;
    return sendDocument(reply, 200, { data, links: { ...links.self(), related } });
  });

  router.route("GET", "/events/:id/relationships/profile", "events:read", profileIdOf, async (exchange) => {
    const { reply, links } = exchange;
    const { id, profileId } = await findEvent(context, exchange);
    const related = links.to(`/events/${id}/profile`).self;
    const data = profileId === undefined ? null : { type: "profile", id: profileId };
    return sendDocument(reply, 200, { data, links: { ...links.self(), related } });
  });

  async function findMetricOf({ request, reply }: Exchange, { type }: Event): Promise<MetricMessage | undefined> {
    const asked = { propertyId: callerOf(request).propertyId, names: [type] };
    const { metrics } = await calling(clients.metrics.getMetrics(asked, readOptions(request, reply)));
    return metrics[0];
  }
}
