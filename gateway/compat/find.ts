/** Finds the resource whose id is in the path. */
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import type { Metric } from "#proto/daybook/metric/v1/metric_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { toId } from "./convert/ids.ts";
import type { CompatExchange } from "./exchange.ts";

/** @throws DaybookError `resource_not_found` */
export async function findEvent({ services, propertyId, id }: CompatExchange): Promise<Event> {
  const eventId = toId("evt", id);
  const found =
    eventId === undefined ? undefined : await services.events.getEvents({ propertyId, eventIds: [eventId] });
  const [event] = found?.events ?? [];
  if (!event) throw nothing("An event");
  return event;
}

/** @throws DaybookError `resource_not_found` */
export async function findMetric({ services, propertyId, id }: CompatExchange): Promise<Metric> {
  const metricId = toId("mtr", id);
  const found =
    metricId === undefined ? undefined : await services.metrics.getMetrics({ propertyId, metricIds: [metricId] });
  const [metric] = found?.metrics ?? [];
  if (!metric) throw nothing("A metric");
  return metric;
}

function nothing(what: string): DaybookError {
  return new DaybookError("resource_not_found", `${what} with this id does not exist.`, { param: "id" });
}
