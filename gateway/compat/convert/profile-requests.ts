/** Profiles, wire to messages: what is to be written, as requests to the profile service; and its refusals, with pointers into the body. */
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

/** Where what comes over this surface comes from. */
export const compatSource = "api";

/** What a creation, an upsert and an update have in common. */
function fieldsOf({ attributesJson, location }: ProfileWrite) {
  return {
    attributesJson,
    location,
    source: compatSource,
  };
}

/** What an upsert and an update have in common beyond that. */
function changesOf({ identifiers, operations, removedEmails }: ProfileWrite) {
  const removeIdentifiers = removedEmails.map((value) => ({ type: "email", value, isPrimary: false }));
  return { identifiers, attributeOperations: operations, removeIdentifiers };
}

/** A profile that nobody has the identifiers of. Taking away what is not there needs no saying. */
export function toCreateRequest(propertyId: string, write: ProfileWrite): CreateProfileRequest {
  const { identifiers } = write;
  return create(CreateProfileRequestSchema, { propertyId, identifiers, ...fieldsOf(write) });
}

/** @param preferFirst as UpsertProfileRequest.prefer_first. */
export function toUpsertRequest(propertyId: string, write: ProfileWrite, preferFirst = false): UpsertProfileRequest {
  const fields = { propertyId, preferFirst, ...fieldsOf(write), ...changesOf(write) };
  return create(UpsertProfileRequestSchema, fields);
}

/** @param removeIdentifierIds identifiers that the profile is to have no more. */
export function toUpdateRequest(
  propertyId: string,
  profileId: string,
  write: ProfileWrite,
  removeIdentifierIds: string[] = [],
): UpdateProfileRequest {
  const fields = { propertyId, profileId, removeIdentifierIds, ...fieldsOf(write), ...changesOf(write) };
  return create(UpdateProfileRequestSchema, fields);
}

/** The identifiers that a profile loses by an update: the primary one of a field that has a new value, all of a field that was cleared. */
export function identifiersToRemove(profile: Profile, write: ProfileWrite): string[] {
  // Before the loop: a profile may have a thousand identifiers.
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

/** Whether an update gives a profile identifiers that it does not have. */
export function addsIdentifiers(profile: Profile, write: ProfileWrite): boolean {
  const own = new Set(profile.identifiers.map(({ type, value }) => `${type} ${value}`));
  return write.identifiers.some(({ type, value }) => !own.has(`${type} ${normalValue(type, value)}`));
}

/** The identifier of a type that is shown: the primary one, or the oldest. */
export function firstOf({ identifiers }: Profile, type: string): Identifier | undefined {
  const some = identifiers.filter((identifier) => identifier.type === type);
  return some.find(({ isPrimary }) => isPrimary) ?? some[0];
}

/**
 * Names the fields at fault, in what the profile service refuses, by where they stand in the body.
 * @param pointer where the profile's attributes stand.
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
