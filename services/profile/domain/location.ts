/** The location of a person. */
import type { FieldError } from "#shared/values/errors.ts";
import { findTimezone } from "#shared/values/places.ts";
import { findLocationFault, locationFields, type LocationField } from "#shared/values/location.ts";

/** An unknown field is absent. */
export type StoredLocation = Partial<Record<LocationField, string>>;

/** New values by field; null deletes a field, and an absent field stays. */
export type LocationChanges = Partial<Record<LocationField, string | null>>;

/**
 * Applies changes to a location.
 * @param faults collects every field at fault.
 * @returns the location; null when it has no field.
 */
export function changeLocation(
  current: StoredLocation | null,
  changes: LocationChanges,
  faults: FieldError[],
): StoredLocation | null {
  for (const field of locationFields) {
    const change = changes[field];
    const fault = typeof change === "string" ? findLocationFault(field, change, `location.${field}`) : undefined;
    if (fault) faults.push(fault);
  }
  const result: StoredLocation = {};
  for (const field of locationFields) {
    const change = changes[field];
    const value = change === undefined ? current?.[field] : change;
    if (value !== undefined && value !== null)
      result[field] = (field === "timezone" ? findTimezone(value) : undefined) ?? value;
  }
  return Object.keys(result).length > 0 ? result : null;
}

/** Merges another profile's location; own fields win. @returns the location, and the fields of the other. */
export function mergeLocations(
  own: StoredLocation | null,
  other: StoredLocation | null,
): { location: StoredLocation | null; moved: LocationField[] } {
  const moved = locationFields.filter((field) => own?.[field] === undefined && other?.[field] !== undefined);
  return { location: moved.length > 0 ? { ...other, ...own } : own, moved };
}

export function isSameLocation(one: StoredLocation | null, other: StoredLocation | null): boolean {
  return locationFields.every((field) => one?.[field] === other?.[field]);
}
