/** Wire to messages and back. What a caller stored as JSON stays text throughout. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Static } from "typebox";
import { EventInputSchema, type Event, type EventInput } from "#proto/daybook/event/v1/event_pb.ts";
import { ValueType, type Metric } from "#proto/daybook/metric/v1/metric_pb.ts";
import {
  ProfileStatus,
  UpsertProfileRequestSchema,
  type Identifier,
  type LocationPatchSchema,
  type Profile,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/errors.ts";
import { formatTimestamp } from "#shared/time.ts";
import type { EventBatchItem, EventCreate, GuideEventCreate, GuideProfileUpsert, ProfileUpsert } from "./schemas.ts";

const source = "api";

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

type UpsertInit = MessageInitShape<typeof UpsertProfileRequestSchema>;

export function toUpsertRequest(propertyId: string, body: Static<typeof ProfileUpsert>): UpsertInit {
  return {
    propertyId,
    identifiers: body.identifiers.map(({ type, value, is_primary }) => ({
      type,
      value,
      isPrimary: is_primary ?? false,
    })),
    ...(body.attributes === undefined ? {} : { attributesJson: JSON.stringify(body.attributes) }),
    ...(body.location === undefined ? {} : { location: toLocationPatch(body.location) }),
    source,
  };
}

export function fromGuideUpsert(propertyId: string, body: Static<typeof GuideProfileUpsert>): UpsertInit {
  return {
    propertyId,
    identifiers: Object.entries(body.identifiers).map(([type, value]) => ({ type, value })),
    ...(body.attributes === undefined ? {} : { attributesJson: JSON.stringify(body.attributes) }),
    source,
  };
}

function toLocationPatch(location: Record<string, string | null>): MessageInitShape<typeof LocationPatchSchema> {
  const entries = Object.entries(location);
  return {
    set: Object.fromEntries(entries.flatMap(([field, value]) => (value === null ? [] : [[field, value]]))),
    clear: entries.flatMap(([field, value]) => (value === null ? [field] : [])),
  };
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

const statusNames: Record<ProfileStatus, string> = {
  [ProfileStatus.UNSPECIFIED]: "active",
  [ProfileStatus.ACTIVE]: "active",
  [ProfileStatus.MERGED]: "merged",
  [ProfileStatus.REDACTED]: "redacted",
};

/** A profile as JSON text. */
export function profileJson(profile: Profile, identifiers: { expand: boolean; showValues: boolean }): string {
  const { location } = profile;
  const shown = {
    identifier_ids: profile.identifiers.map(({ id }) => id),
    ...(identifiers.expand
      ? { identifiers: profile.identifiers.map((identifier) => identifierObject(identifier, identifiers.showValues)) }
      : {}),
  };
  const rest = {
    tags: profile.tags,
    location: location
      ? {
          city: location.city ?? null,
          region: location.region ?? null,
          country: location.country ?? null,
          timezone: location.timezone ?? null,
          zip: location.zip ?? null,
        }
      : null,
    merged_into: profile.mergedInto ?? null,
    created_at: timeText(profile.createdAt),
    updated_at: timeText(profile.updatedAt),
  };
  return (
    `{"id":"${profile.id}","object":"profile","status":"${statusNames[profile.status]}",` +
    `${JSON.stringify(shown).slice(1, -1)},"attributes":${profile.attributesJson},${JSON.stringify(rest).slice(1)}`
  );
}

/** The strong entity tag of a profile. */
export function profileEtag(profile: Profile): string {
  return `"v${profile.version}"`;
}

function identifierObject(identifier: Identifier, showValue: boolean): object {
  return {
    id: identifier.id,
    object: "identifier",
    profile_id: identifier.profileId,
    type: identifier.type,
    ...(showValue ? { value: identifier.value } : {}),
    display_value: maskValue(identifier),
    is_primary: identifier.isPrimary,
    verified_at: identifier.verifiedAt ? formatTimestamp(identifier.verifiedAt) : null,
    source: identifier.source,
    created_at: timeText(identifier.createdAt),
    updated_at: timeText(identifier.updatedAt),
  };
}

/** `j•••@example.com`, `+1•••••••0123`, `c•••`: enough to tell two apart, and always as long, whatever is hidden. */
export function maskValue({ type, value }: Pick<Identifier, "type" | "value">): string {
  const [first = ""] = value;
  if (type === "email" && value.includes("@")) return `${first}•••${value.slice(value.lastIndexOf("@"))}`;
  if (type === "phone") return `${value.slice(0, 2)}•••••••${value.slice(-4)}`;
  return `${first}•••`;
}

const valueTypeNames: Record<ValueType, string> = {
  [ValueType.UNSPECIFIED]: "mixed",
  [ValueType.STRING]: "string",
  [ValueType.NUMBER]: "number",
  [ValueType.BOOLEAN]: "boolean",
  [ValueType.TIMESTAMP]: "timestamp",
  [ValueType.ARRAY]: "array",
  [ValueType.OBJECT]: "object",
  [ValueType.MIXED]: "mixed",
};

/** A metric as JSON text. */
export function metricJson(metric: Metric): string {
  return JSON.stringify({
    id: metric.id,
    object: "metric",
    name: metric.name,
    source: metric.source ?? null,
    system: metric.system,
    description: metric.description ?? null,
    first_seen_at: metric.firstSeenAt ? formatTimestamp(metric.firstSeenAt) : null,
    schema: Object.fromEntries(metric.schema.map(({ path, type }) => [path, valueTypeNames[type]])),
  });
}

function textJson(text: string | undefined): string {
  return text === undefined ? "null" : JSON.stringify(text);
}

function timeText(time: Timestamp | undefined): string {
  if (!time) throw new Error("a time that is always there is missing");
  return formatTimestamp(time);
}

function timeJson(time: Timestamp | undefined): string {
  return `"${timeText(time)}"`;
}
