/**
 * Profiles and identifiers: bodies to messages, and messages to JSON. Caller JSON stays text, so that it is not
 * changed.
 */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Static } from "typebox";
import {
  AttributeOperator,
  CreateProfileRequestSchema,
  ProfileStatus,
  UpdateProfileRequestSchema,
  UpsertProfileRequestSchema,
  type AttributeOperationSchema,
  type CreateProfileRequest,
  type Identifier,
  type LocationPatchSchema,
  type Profile,
  type UpdateProfileRequest,
  type UpsertProfileRequest,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { formatTimestamp } from "#shared/values/time.ts";
import { locationFields } from "#shared/values/location.ts";
import type {
  GuideProfileUpsert,
  IdentifierInput,
  ProfileBatchItem,
  ProfileCreate,
  ProfileUpdate,
  ProfileUpsert,
} from "../schemas.ts";
import { withoutHiddenAttributes } from "../../hidden-attributes.ts";
import { timeText } from "#shared/wire/text.ts";
import { apiSource as source } from "./source.ts";

const operators = {
  set: AttributeOperator.SET,
  delete: AttributeOperator.DELETE,
  append_unique: AttributeOperator.APPEND_UNIQUE,
  remove: AttributeOperator.REMOVE,
} as const;

export function toCreateRequest(propertyId: string, body: Static<typeof ProfileCreate>): CreateProfileRequest {
  return create(CreateProfileRequestSchema, { propertyId, ...toFields(body) });
}

function toFields(body: Static<typeof ProfileCreate>) {
  return {
    identifiers: body.identifiers.map(toIdentifierInput),
    attributesJson: JSON.stringify(body.attributes),
    // Null means absent here; only an update clears a location with it.
    ...(body.location ? { location: toLocationPatch(body.location) } : {}),
    source,
  };
}

export function toUpsertRequest(
  propertyId: string,
  body: Static<typeof ProfileUpsert> | Static<typeof ProfileBatchItem>,
): UpsertProfileRequest {
  return create(UpsertProfileRequestSchema, {
    propertyId,
    ...toFields(body),
    ...toAttributeOperations(body),
    ...("idempotency_key" in body && body.idempotency_key !== undefined
      ? { idempotencyKey: body.idempotency_key }
      : {}),
  });
}

export function fromGuideUpsert(propertyId: string, body: Static<typeof GuideProfileUpsert>): UpsertProfileRequest {
  return create(UpsertProfileRequestSchema, {
    propertyId,
    identifiers: Object.entries(body.identifiers).map(([type, value]) => ({ type, value })),
    attributesJson: JSON.stringify(body.attributes),
    source,
  });
}

export function toUpdateRequest(
  propertyId: string,
  profileId: string,
  body: Static<typeof ProfileUpdate>,
): UpdateProfileRequest {
  return create(UpdateProfileRequestSchema, {
    propertyId,
    profileId,
    attributesJson: JSON.stringify(body.attributes),
    ...toAttributeOperations(body),
    // Null clears all fields.
    ...(body.location === undefined
      ? {}
      : { location: body.location === null ? { clear: [...locationFields] } : toLocationPatch(body.location) }),
  });
}

export function toIdentifierInput({ type, value, is_primary }: Static<typeof IdentifierInput>): {
  type: string;
  value: string;
  isPrimary: boolean;
} {
  return { type, value, isPrimary: is_primary ?? false };
}

function toAttributeOperations({
  attribute_operations: operations,
}: Static<typeof ProfileUpsert> | Static<typeof ProfileUpdate>): {
  attributeOperations?: MessageInitShape<typeof AttributeOperationSchema>[];
} {
  if (operations === undefined) return {};
  return {
    attributeOperations: operations.map(({ op, path, value }) => ({
      op: operators[op as keyof typeof operators],
      path: [path].flat(),
      valueJson: JSON.stringify(value),
    })),
  };
}

function toLocationPatch(location: Record<string, string | null>): MessageInitShape<typeof LocationPatchSchema> {
  const entries = Object.entries(location);
  return {
    set: Object.fromEntries(entries.flatMap(([field, value]) => (value === null ? [] : [[field, value]]))),
    clear: entries.flatMap(([field, value]) => (value === null ? [field] : [])),
  };
}

const statusNames: Record<ProfileStatus, string> = {
  [ProfileStatus.UNSPECIFIED]: "active",
  [ProfileStatus.ACTIVE]: "active",
  [ProfileStatus.MERGED]: "merged",
  [ProfileStatus.REDACTED]: "redacted",
};

/** The status of a name; UNSPECIFIED for an unknown one. */
export function toStatus(name: string | undefined): ProfileStatus {
  const statuses = [ProfileStatus.ACTIVE, ProfileStatus.MERGED, ProfileStatus.REDACTED];
  return statuses.find((known) => statusNames[known] === name) ?? ProfileStatus.UNSPECIFIED;
}

/** How identifiers are shown: as ids or in full, unmasked or masked. Hidden attributes need unmasked values. */
export interface ShownIdentifiers {
  expand: boolean;
  showValues: boolean;
}

export function profileJson(profile: Profile, identifiers: ShownIdentifiers): string {
  const { location, attributesJson } = profile;
  const attributes = identifiers.showValues ? attributesJson : withoutHiddenAttributes(attributesJson);
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
    profile_ref: profile.profileRef,
    created_at: timeText(profile.createdAt),
    updated_at: timeText(profile.updatedAt),
  };
  return (
    `{"id":"${profile.id}","object":"profile","status":"${statusNames[profile.status]}",` +
    `${JSON.stringify(shown).slice(1, -1)},"attributes":${attributes},${JSON.stringify(rest).slice(1)}`
  );
}

export function profileEtag(profile: Profile): string {
  return `"v${profile.version}"`;
}

export function identifierObject(identifier: Identifier, showValue: boolean): object {
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

/** `j•••@example.com`, `+1•••••••0123`, `c•••`: the number of dots does not reveal the length of the value. */
export function maskValue({ type, value }: Pick<Identifier, "type" | "value">): string {
  const [first = ""] = value;
  if (type === "email" && value.includes("@")) return `${first}•••${value.slice(value.lastIndexOf("@"))}`;
  if (type === "phone") return `${value.slice(0, 2)}•••••••${value.slice(-4)}`;
  return `${first}•••`;
}

/** @param schemaJson the text of a JSON object. */
export function profileSchemaJson(schemaJson: string): string {
  return `{"object":"schema","resource":"profile","type":null,"metric_id":null,"schema":${schemaJson}}`;
}
