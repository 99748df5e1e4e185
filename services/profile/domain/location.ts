/** Where a person is, as far as known. */
import type { FieldError } from "#shared/values/errors.ts";
import { findTimezone } from "#shared/values/places.ts";
import { findLocationFault, locationFields, type LocationField } from "#shared/values/location.ts";

/** What is known; a field that is not known is absent. */
export type StoredLocation = Partial<Record<LocationField, string>>;

/** New values by field; null empties a field, and a field left out stays. */
export type LocationChanges = Partial<Record<LocationField, string | null>>;

/**
 * Writes changes into a location.
 * @param faults collects every field at fault.
 * @returns what is known then; null when it is nothing.
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

/** What is known after another profile was merged into one: its own fields win. @returns the location, and the fields that came. */
export function mergeLocations(
  own: StoredLocation | null,
  other: StoredLocation | null,
): { location: StoredLocation | null; moved: LocationField[] } {
  const moved = locationFields.filter((field) => own?.[field] === undefined && other?.[field] !== undefined);
  return { location: moved.length > 0 ? { ...other, ...own } : own, moved };
}

/** Whether two locations say the same. */
export function isSameLocation(one: StoredLocation | null, other: StoredLocation | null): boolean {
  return locationFields.every((field) => one?.[field] === other?.[field]);
}
