/** Events: wire to messages and back. What a caller stored as JSON stays text throughout. */
import { create } from "@bufbuild/protobuf";
import type { Static } from "typebox";
import { EventInputSchema, type Event, type EventInput } from "#proto/daybook/event/v1/event_pb.ts";
import { DaybookError } from "#shared/errors.ts";
import type { EventBatchItem, EventCreate, GuideEventCreate } from "../schemas.ts";
import { apiSource as source, textJson, timeJson } from "./text.ts";

/** @throws DaybookError `parameter_missing` or `parameter_conflict` unless exactly one of profile_id and identifier is there. */
export function toEventInput(
  body: Static<typeof EventCreate> | Static<typeof EventBatchItem>,
  backfill = false,
): EventInput {
  const { profile_id, identifier } = body;
  if (profile_id === undefined && identifier === undefined) {
    throw new DaybookError("parameter_missing", "Either profile_id or identifier is required.", {
      param: "profile_id",
    });
  }
  if (profile_id !== undefined && identifier !== undefined) {
    throw new DaybookError("parameter_conflict", "Send either profile_id or identifier.", { param: "identifier" });
  }
  return create(EventInputSchema, {
    type: body.type,
    profile: {
      reference:
        identifier === undefined
          ? { case: "profileId", value: profile_id ?? "" }
          : { case: "identifier", value: identifier },
    },
    propertiesJson: JSON.stringify(body.properties),
    ...(body.value === undefined ? {} : { value: body.value }),
    ...(body.currency === undefined ? {} : { currency: body.currency }),
    ...(body.occurred_at === undefined ? {} : { occurredAt: body.occurred_at }),
    ...(body.dedupe_id === undefined ? {} : { dedupeId: body.dedupe_id }),
    ...("idempotency_key" in body && body.idempotency_key !== undefined
      ? { idempotencyKey: body.idempotency_key }
      : {}),
    source,
    backfill,
  });
}

/** @throws DaybookError `parameter_missing` or `parameter_conflict` unless the profile has exactly one identifier. */
export function fromGuideEvent(body: Static<typeof GuideEventCreate>): EventInput {
  const [identifier, another] = Object.entries(body.profile);
  if (!identifier || another) {
    const message = "A profile has exactly one of email, phone and external_id.";
    throw new DaybookError(identifier ? "parameter_conflict" : "parameter_missing", message, { param: "profile" });
  }
  const [type, value] = identifier;
  return create(EventInputSchema, {
    type: body.event_type,
    profile: { reference: { case: "identifier", value: { type, value } } },
    propertiesJson: JSON.stringify(body.properties),
    ...(body.idempotency_key === undefined ? {} : { idempotencyKey: body.idempotency_key }),
    source,
  });
}

const guideEventParams: Readonly<Record<string, string>> = {
  type: "event_type",
  "identifier.type": "profile",
  "identifier.value": "profile",
};

/** Names the fields at fault as the guide's body does. */
export function toGuideEventError(error: DaybookError): DaybookError {
  return error.withParams((param) => guideEventParams[param] ?? param);
}

/** What is shown in full within an event. */
export interface EventExpansion {
  /** JSON text of the profile or metric, or `null`. */
  profile?: string;
  metric?: string;
}

/** An event as JSON text. */
export function eventJson(event: Event, expansion: EventExpansion = {}): string {
  const expanded = Object.entries(expansion).map(([name, json]) => `,"${name}":${json}`);
  return (
    `{"id":"${event.id}","object":"event","type":"${event.type}","profile_id":${textJson(event.profileId)}` +
    expanded.join("") +
    `,"properties":${event.propertiesJson},"value":${textJson(event.value)},"currency":${textJson(event.currency)}` +
    `,"occurred_at":${timeJson(event.occurredAt)},"received_at":${timeJson(event.receivedAt)}` +
    `,"dedupe_id":${textJson(event.dedupeId)},"source":${textJson(event.source)}}`
  );
}
