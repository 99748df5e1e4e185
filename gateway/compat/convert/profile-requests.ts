/** Builds requests to the profile service, and maps the params of its errors to pointers into the body. */
import { create } from "@bufbuild/protobuf";
import {
  CreateProfileRequestSchema,
  UpdateProfileRequestSchema,
  UpsertProfileRequestSchema,
  type CreateProfileRequest,
  type Identifier,
  type Profile,
  type UpdateProfileRequest,
  type UpsertProfileRequest,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { pointerTo } from "../faults.ts";
import { fieldOfType, normalValue } from "./identifiers.ts";
import type { ProfileWrite } from "./profile-in.ts";

/** The source of events and profiles written over this surface. */
export const compatSource = "api";

/** Fields of creations, upserts and updates. */
function fieldsOf({ attributesJson, location }: ProfileWrite) {
  return {
    attributesJson,
    location,
    source: compatSource,
  };
}

/** Further fields of upserts and updates. */
function changesOf({ identifiers, operations, removedEmails }: ProfileWrite) {
  const removeIdentifiers = removedEmails.map((value) => ({ type: "email", value, isPrimary: false }));
  return { identifiers, attributeOperations: operations, removeIdentifiers };
}

/** A profile whose identifiers are free. Removals are left out, because a new profile has nothing to remove. */
export function toCreateRequest(propertyId: string, write: ProfileWrite): CreateProfileRequest {
  const { identifiers } = write;
  return create(CreateProfileRequestSchema, { propertyId, identifiers, ...fieldsOf(write) });
}

/** @param preferFirst see UpsertProfileRequest.prefer_first. */
export function toUpsertRequest(propertyId: string, write: ProfileWrite, preferFirst = false): UpsertProfileRequest {
  const fields = { propertyId, preferFirst, ...fieldsOf(write), ...changesOf(write) };
  return create(UpsertProfileRequestSchema, fields);
}

/** @param removeIdentifierIds ids of identifiers to remove. */
export function toUpdateRequest(
  propertyId: string,
  profileId: string,
  write: ProfileWrite,
  removeIdentifierIds: string[] = [],
): UpdateProfileRequest {
  const fields = { propertyId, profileId, removeIdentifierIds, ...fieldsOf(write), ...changesOf(write) };
  return create(UpdateProfileRequestSchema, fields);
}

/** Ids of the identifiers an update removes: the shown one of a field with a new value, all of a cleared field. */
export function identifiersToRemove(profile: Profile, write: ProfileWrite): string[] {
  // A set, because a profile may have a thousand identifiers.
  const wanted = new Set(write.identifiers.map(({ type, value }) => `${type} ${normalValue(type, value)}`));
  return profile.identifiers.flatMap(({ id, type, value }) => {
    const field = fieldOfType(type);
    if (field === undefined) return [];
    const isKept = wanted.has(`${type} ${value}`);
    if (write.cleared.has(field)) return [id];
    const isReplaced = write.identifiers.some((one) => one.type === type && one.isPrimary);
    const isShown = firstOf(profile, type)?.id === id;
    return !isKept && isShown && isReplaced ? [id] : [];
  });
}

/** Whether an update adds identifiers to a profile. */
export function addsIdentifiers(profile: Profile, write: ProfileWrite): boolean {
  const own = new Set(profile.identifiers.map(({ type, value }) => `${type} ${value}`));
  return write.identifiers.some(({ type, value }) => !own.has(`${type} ${normalValue(type, value)}`));
}

/** The shown identifier of a type: the primary one, else the first. */
export function firstOf({ identifiers }: Profile, type: string): Identifier | undefined {
  const ofType = identifiers.filter((identifier) => identifier.type === type);
  return ofType.find(({ isPrimary }) => isPrimary) ?? ofType[0];
}

/**
 * Maps params in errors of the profile service to JSON pointers.
 * @param pointer of the profile's attributes.
 */
export function toPointer(write: ProfileWrite, pointer: string, idPointer = "/data/id"): (param: string) => string {
  return (param) => {
    const [first = "", second = "", ...rest] = param.split(".");
    if (first === "profile_id" || first === "source_profile_id") return idPointer;
    if (first === "identifiers") {
      const field = fieldOfType(write.identifiers[Number(second)]?.type ?? "");
      return second === "" || field === undefined ? pointer : `${pointer}/${field}`;
    }
    if (first === "location") return `${pointer}/location${pointerTo(second === "" ? [] : [second])}`;
    if (first === "attributes") return `${pointer}/properties${pointerTo([second, ...rest].filter(Boolean))}`;
    if (first === "attribute_operations") {
      return write.operationPointers[Number(second)] ?? pointer;
    }
    return pointer;
  };
}
