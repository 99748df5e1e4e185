/** Converts rows to messages. */
import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import {
  IdentifierSchema,
  LocationSchema,
  MovedByMergeSchema,
  ProfileSchema,
  ProfileStatus,
  type Identifier,
  type MovedByMerge,
  type Profile,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { encodeId } from "#shared/values/ids.ts";
import { parseDateTime, toTimestamp } from "#shared/values/time.ts";
import type { Moved } from "./domain/moved.ts";
import type { ProfileIdentifierRow, ProfileRow } from "./sql/profiles.ts";

export const statusOfName: Record<ProfileRow["status"], ProfileStatus> = {
  active: ProfileStatus.ACTIVE,
  merged: ProfileStatus.MERGED,
  redacted: ProfileStatus.REDACTED,
};

/** Fields are missing once the survivor is redacted. */
export function toMoved(moved: Partial<Moved>): MovedByMerge {
  return create(MovedByMergeSchema, {
    identifierIds: moved.identifier_ids ?? [],
    attributes: moved.attributes ?? [],
    tags: moved.tags ?? [],
    location: moved.location ?? [],
  });
}

export function toProfile(row: ProfileRow): Profile {
  const id = encodeId("prof", row.id);
  return create(ProfileSchema, {
    id,
    status: statusOfName[row.status],
    identifiers: row.identifiers.map((identifier) => toIdentifier(id, identifier)),
    attributesJson: row.attributes,
    tags: row.tags,
    ...(row.location ? { location: create(LocationSchema, row.location) } : {}),
    mergedInto: row.merged_into === null ? undefined : encodeId("prof", row.merged_into),
    profileRef: row.profile_ref ?? undefined,
    version: BigInt(row.version),
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  });
}

function toIdentifier(profileId: string, row: ProfileIdentifierRow): Identifier {
  return create(IdentifierSchema, {
    id: encodeId("idnt", row.id),
    profileId,
    type: row.type,
    value: row.value,
    isPrimary: row.is_primary,
    verifiedAt: row.verified_at === null ? undefined : timestampOfText(row.verified_at),
    source: row.source,
    createdAt: timestampOfText(row.created_at),
    updatedAt: timestampOfText(row.updated_at),
  });
}

function timestampOfText(text: string): Timestamp {
  const micros = parseDateTime(text);
  if (micros === undefined) throw new RangeError("PostgreSQL wrote a time that cannot be read");
  return toTimestamp(micros);
}
