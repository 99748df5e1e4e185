import type { EventJobItem } from "#proto/daybook/event/v1/event_pb.ts";

/** What an item of a job of events says, in the native form of an event: what the caller sent is not stored. */
export function sentItem({ event, profile }: EventJobItem): string {
  if (!event) return "";
  const { reference } = event.profile ?? {};
  const fields = {
    type: event.type,
    ...(reference?.case === "profileId" ? { profile_id: reference.value } : {}),
    ...(reference?.case === "identifier" ? { identifier: plainIdentifier(reference.value) } : {}),
    ...(profile ? { identifiers: profile.identifiers.map(plainIdentifier) } : {}),
    value: event.value,
    currency: event.currency,
    occurred_at: event.occurredAt,
    dedupe_id: event.dedupeId ?? event.uniqueId,
  };
  return `${JSON.stringify(fields).slice(0, -1)},"properties":${event.propertiesJson || "{}"}}`;
}

function plainIdentifier({ type, value }: { type: string; value: string }): { type: string; value: string } {
  return { type, value };
}
