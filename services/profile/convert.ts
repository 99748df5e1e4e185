/** Messages to the domain. */
import type { LocationPatch } from "#proto/daybook/profile/v1/profile_pb.ts";
import { locationFields, type LocationChanges } from "./domain/location.ts";

export function toLocationChanges(patch: LocationPatch | undefined): LocationChanges {
  const changes: LocationChanges = {};
  for (const field of locationFields) {
    const value = patch?.set?.[field];
    if (value !== undefined) changes[field] = value;
    else if (patch?.clear.includes(field)) changes[field] = null;
  }
  return changes;
}
