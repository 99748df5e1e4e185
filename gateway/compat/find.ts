/** Finds what a path names by its id. */
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import type { Metric } from "#proto/daybook/metric/v1/metric_pb.ts";
import { DaybookError } from "#shared/errors.ts";
import { calling } from "#shared/interceptors.ts";
import { callerOf, readOptions } from "../plugins/request.ts";
import type { CompatContext } from "./context.ts";
import { toId } from "./convert/ids.ts";
import type { Exchange } from "./router.ts";

type Asked = Pick<Exchange, "request" | "reply" | "id">;

/** @throws DaybookError `resource_not_found` */
export async function findEvent({ clients }: CompatContext, { request, reply, id }: Asked): Promise<Event> {
  const eventId = toId("evt", id);
  const asked = { propertyId: callerOf(request).propertyId, eventIds: [eventId ?? ""] };
  const found = eventId && (await calling(clients.events.getEvents(asked, readOptions(request, reply))));
  const [event] = found ? found.events : [];
  if (!event) throw nothing("An event");
  return event;
}

/** @throws DaybookError `resource_not_found` */
export async function findMetric({ clients }: CompatContext, { request, reply, id }: Asked): Promise<Metric> {
  const metricId = toId("mtr", id);
  const asked = { propertyId: callerOf(request).propertyId, metricIds: [metricId ?? ""] };
  const found = metricId && (await calling(clients.metrics.getMetrics(asked, readOptions(request, reply))));
  const [metric] = found ? found.metrics : [];
  if (!metric) throw nothing("A metric");
  return metric;
}

function nothing(what: string): DaybookError {
  return new DaybookError("resource_not_found", `${what} with this id does not exist.`, { param: "id" });
}
