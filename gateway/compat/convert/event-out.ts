/** Events, messages to wire. */
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import { fromTimestamp } from "#shared/time.ts";
import { parseJson } from "#shared/json.ts";
import type { Resource } from "../reply.ts";
import { uuidOf } from "./ids.ts";
import { toDateTime } from "./times.ts";

/** An event as a resource. @param metricId of its metric, which follows the first event by a moment. */
export function eventResource(event: Event, metricId: string | undefined, links: { self: string }): Resource {
  const { occurredAt, profileId } = event;
  if (!occurredAt) throw new Error("a time that is always there is missing");
  return {
    type: "event",
    id: event.id,
    attributes: {
      timestamp: Math.floor(fromTimestamp(occurredAt) / 1_000_000),
      event_properties: parseJson(event.propertiesJson),
      datetime: toDateTime(occurredAt),
      uuid: uuidOf("evt", event.id),
    },
    relationships: {
      ...(profileId === undefined ? {} : { profile: { data: { type: "profile", id: profileId } } }),
      ...(metricId === undefined ? {} : { metric: { data: { type: "metric", id: metricId } } }),
      attributions: { data: [] },
    },
    links,
  };
}
