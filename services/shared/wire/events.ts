/** Events as native JSON. Caller JSON stays text, so that it is not changed. */
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import { textJson, timeJson } from "./text.ts";

/** JSON text of the resources shown in full within an event, or `null`. */
export interface EventExpansion {
  profile?: string;
  metric?: string;
}

export function eventJson(event: Event, expansion: EventExpansion = {}): string {
  return render(event, expansion, `,"properties":${event.propertiesJson}`);
}

/** An event that is too large to be sent whole. */
export function eventJsonWithoutProperties(event: Event): string {
  return render(event, {}, "");
}

function render(event: Event, expansion: EventExpansion, properties: string): string {
  const expanded = Object.entries(expansion).map(([name, json]) => `,"${name}":${json}`);
  return (
    `{"id":"${event.id}","object":"event","type":"${event.type}","profile_id":${textJson(event.profileId)}` +
    expanded.join("") +
    `${properties},"value":${textJson(event.value)},"currency":${textJson(event.currency)}` +
    `,"occurred_at":${timeJson(event.occurredAt)},"received_at":${timeJson(event.receivedAt)}` +
    `,"dedupe_id":${textJson(event.dedupeId)},"source":${textJson(event.source)}}`
  );
}
