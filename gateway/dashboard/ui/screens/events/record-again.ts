/** The body of a POST /v1/events that records the same once more. */
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import { formatExact } from "../../data/times.ts";

/** Types of these are recorded by the platform only. */
const reservedPattern = /^(?:sms|profile)(?:\.|$)/;

/**
 * Properties are put in as their text, so that no number is rounded.
 * @returns undefined for an event that the API does not take: a system one, or one without a profile.
 */
export function bodyOf({
  type,
  profileId,
  propertiesJson,
  value,
  currency,
  occurredAt,
  source,
}: Event): string | undefined {
  if (profileId === undefined || source === "system" || reservedPattern.test(type)) return undefined;
  const fields = {
    type: JSON.stringify(type),
    profile_id: JSON.stringify(profileId),
    properties: propertiesJson,
    ...(value !== undefined && { value: JSON.stringify(value), currency: JSON.stringify(currency) }),
    ...(occurredAt && { occurred_at: JSON.stringify(formatExact(occurredAt)) }),
  };
  return `{${Object.entries(fields)
    .map(([name, text]) => `"${name}":${text}`)
    .join(",")}}`;
}
