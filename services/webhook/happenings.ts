/** What happened, of the messages and events that tell of it. */
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import type { RejectedWritesReported } from "#proto/daybook/event/v1/rejected_pb.ts";
import type { Metric } from "#proto/daybook/metric/v1/metric_pb.ts";
import { PrivacyRequestStatus, type PrivacyRequestSettled } from "#proto/daybook/profile/v1/privacy_pb.ts";
import type { ProfileChange } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import { decodeId, toUuid, type Uuid } from "#shared/values/ids.ts";
import { fromTimestamp } from "#shared/values/time.ts";
import { isWebhookType } from "#shared/values/webhook-types.ts";
import { eventJson, eventJsonWithoutProperties } from "#shared/wire/events.ts";
import { metricJson, metricJsonWithoutSchema } from "#shared/wire/metrics.ts";
import { privacyRequestJson, privacyRequestObject } from "#shared/wire/privacy.ts";
import { linkedJson, profileChangeJson, rejectedReportJson } from "#shared/wire/webhooks.ts";
import { messageIdOf, type Happening } from "./domain/happening.ts";

const platformSource = "system";

/** Whether an event is told: history and the platform's own are not. */
export function isTold({ backfill, source }: Event): boolean {
  return !backfill && source !== platformSource;
}

/** An ordinary event. */
export function ofEvent(property: Uuid, event: Event): Happening {
  const id = decodeId("evt", event.id, "id");
  return {
    property,
    type: "event.recorded",
    id: messageIdOf("event.recorded", id),
    at: timeOf(event),
    data: () => eventJson(event),
    shorter: { omitted: "properties", data: () => eventJsonWithoutProperties(event) },
    eventId: id,
    profileId: event.profileId === undefined ? undefined : decodeId("prof", event.profileId, "profile_id"),
    event: { type: event.type, source: event.source },
  };
}

/** The stored event of a change of a profile; undefined for another event. Its version is not known any more. */
export function ofSystemEvent(property: Uuid, event: Event): Happening | undefined {
  const { type, source, profileId, recordedFor = profileId } = event;
  if (source !== platformSource || !isWebhookType(type) || recordedFor === undefined) return undefined;
  const properties = JSON.parse(event.propertiesJson) as { source_profile_id?: string };
  return {
    property,
    type,
    // The event has the id of the change.
    id: messageIdOf(type, decodeId("evt", event.id, "id")),
    at: timeOf(event),
    data: () => profileChangeJson(recordedFor, null, properties.source_profile_id),
    profileId: decodeId("prof", recordedFor, "profile_id"),
  };
}

/** An anonymous event that gained its profile. */
export function ofLinked(
  property: Uuid,
  linked: { eventId: string; profileId: string; type: string; source: string },
  at: Micros,
): Happening {
  const id = decodeId("evt", linked.eventId, "event_id");
  return {
    property,
    type: "event.linked",
    id: messageIdOf("event.linked", id),
    at,
    data: () => linkedJson(linked.eventId, linked.profileId),
    eventId: id,
    profileId: decodeId("prof", linked.profileId, "profile_id"),
    event: { type: linked.type, source: linked.source },
  };
}

/** A change of a profile; undefined for one that is not told, or was told before. */
export function ofChange(property: Uuid, { changeId, profileId, change, version }: ProfileChange, at: Micros) {
  if (change.case === undefined || change.case === "identified") return undefined;
  if (change.case === "redacted" && change.value.repeated) return undefined;
  const source = change.case === "merged" ? change.value.sourceProfileId : undefined;
  const type = `profile.${change.case}` as const;
  const happening: Happening = {
    property,
    type,
    id: messageIdOf(type, toUuid(changeId)),
    at,
    data: () => profileChangeJson(profileId, version === 0n ? null : Number(version), source),
    profileId: decodeId("prof", profileId, "profile_id"),
  };
  return happening;
}

/** A metric that came to be. */
export function ofMetric(property: Uuid, metric: Metric, now: Micros): Happening {
  return {
    property,
    type: "metric.created",
    id: messageIdOf("metric.created", decodeId("mtr", metric.id, "id")),
    at: metric.createdAt ? fromTimestamp(metric.createdAt) : now,
    data: () => metricJson(metric),
    shorter: { omitted: "schema", data: () => metricJsonWithoutSchema(metric) },
  };
}

/** A privacy request that is completed or has failed; undefined for another. */
export function ofPrivacyRequest({ changeId, request }: PrivacyRequestSettled, now: Micros): Happening | undefined {
  if (!request) return undefined;
  const { status } = request;
  if (status !== PrivacyRequestStatus.COMPLETED && status !== PrivacyRequestStatus.FAILED) return undefined;
  const type = status === PrivacyRequestStatus.COMPLETED ? "privacy_request.completed" : "privacy_request.failed";
  const { completedAt } = request;
  return {
    property: decodeId("prop", request.propertyId, "property_id"),
    type,
    id: messageIdOf(type, toUuid(changeId)),
    at: completedAt ? fromTimestamp(completedAt) : now,
    data: () => privacyRequestJson(request),
    shorter: {
      omitted: "profile_ids",
      data: () => JSON.stringify({ ...privacyRequestObject(request), profile_ids: undefined }),
    },
  };
}

/** Writes that were refused. */
export function ofRejectedWrites(report: RejectedWritesReported): Happening {
  if (!report.to) throw new Error("the report has no end");
  return {
    property: decodeId("prop", report.propertyId, "property_id"),
    type: "rejected_writes.reported",
    id: messageIdOf("rejected_writes.reported", toUuid(report.reportId)),
    at: fromTimestamp(report.to),
    data: () => rejectedReportJson(report),
  };
}

function timeOf({ receivedAt }: Event): Micros {
  if (!receivedAt) throw new Error("an event lacks a time");
  return fromTimestamp(receivedAt);
}
