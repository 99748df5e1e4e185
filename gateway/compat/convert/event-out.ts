/** Events, messages to wire. */
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import { fromTimestamp } from "#shared/values/time.ts";
import { parseJson } from "#shared/json/json.ts";
import type { Resource } from "../reply.ts";
import { uuidOf } from "./ids.ts";
import { toDateTime } from "./times.ts";

/**
 * An event as a resource. @param metricId undefined until the metric exists, which may be shortly after its first
 * event.
 */
export function eventResource(event: Event, metricId: string | undefined, links: { self: string }): Resource {
  return toResource(event, { event_properties: parseJson(event.propertiesJson) }, metricId, links);
}

/** A newly written event, without its properties because the caller has them. */
export function writtenEventResource(event: Event, links: { self: string }): Resource {
  return toResource(event, {}, undefined, links);
}

function toResource(
  { id, occurredAt, profileId }: Event,
  more: { event_properties?: unknown },
  metricId: string | undefined,
  links: { self: string },
): Resource {
  if (!occurredAt) throw new Error("a time that is always there is missing");
  return {
    type: "event",
    id,
    attributes: {
      timestamp: Math.floor(fromTimestamp(occurredAt) / 1_000_000),
      ...more,
      datetime: toDateTime(occurredAt),
      uuid: uuidOf("evt", id),
    },
    relationships: {
      ...(profileId === undefined ? {} : { profile: { data: { type: "profile", id: profileId } } }),
      ...(metricId === undefined ? {} : { metric: { data: { type: "metric", id: metricId } } }),
      attributions: { data: [] },
    },
    links,
  };
}
