/** Finds what a path names by its id. */
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import type { Metric } from "#proto/daybook/metric/v1/metric_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { calling } from "#shared/rpc/interceptors.ts";
import { callerOf, readOptions } from "../plugins/request.ts";
import type { CompatContext } from "./context.ts";
import { toId } from "./convert/ids.ts";
import type { Exchange } from "./router.ts";

type Asked = Pick<Exchange, "request" | "reply" | "id">;

/** @throws DaybookError `resource_not_found` */
export async function findEvent({ clients }: CompatContext, { request, reply, id }: Asked): Promise<Event> {
  const eventId = toId("evt", id);
  if (eventId === undefined) throw nothing("An event");
  const asked = { propertyId: callerOf(request).propertyId, eventIds: [eventId] };
  const { events } = await calling(clients.events.getEvents(asked, readOptions(request, reply)));
  const [event] = events;
  if (!event) throw nothing("An event");
  return event;
}

/** @throws DaybookError `resource_not_found` */
export async function findMetric({ clients }: CompatContext, { request, reply, id }: Asked): Promise<Metric> {
  const metricId = toId("mtr", id);
  if (metricId === undefined) throw nothing("A metric");
  const asked = { propertyId: callerOf(request).propertyId, metricIds: [metricId] };
  const { metrics } = await calling(clients.metrics.getMetrics(asked, readOptions(request, reply)));
  const [metric] = metrics;
  if (!metric) throw nothing("A metric");
  return metric;
}

function nothing(what: string): DaybookError {
  return new DaybookError("resource_not_found", `${what} with this id does not exist.`, { param: "id" });
}
