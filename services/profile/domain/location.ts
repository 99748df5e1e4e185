/** Where a person is, as far as known. */
import { DaybookError, type FieldError } from "#shared/errors.ts";
import { textProblem } from "#shared/json.ts";
import { isCountry, isTimezone, realTimezone } from "#shared/places.ts";

/** The fields of a location, in the order in which they are shown. */
export const locationFields = ["city", "region", "country", "timezone", "zip"] as const;

/** One of them. */
export type LocationField = (typeof locationFields)[number];

/** What is known; a field that is not known is absent. */
export type StoredLocation = Partial<Record<LocationField, string>>;

/** New values by field; null empties a field, and a field left out stays. */
export type LocationChanges = Partial<Record<LocationField, string | null>>;

const lengthMax: Record<LocationField, number> = { city: 255, region: 255, country: 2, timezone: 255, zip: 32 };

/**
 * Writes changes into a location.
 * @returns what is known then; null when it is nothing.
 * @throws DaybookError `parameter_invalid` with every field at fault.
 */
export function changeLocation(current: StoredLocation | null, changes: LocationChanges): StoredLocation | null {
  const errors = locationFields.flatMap((field): FieldError[] => {
    const reason = fieldProblem(field, changes[field]);
    return reason === undefined ? [] : [{ code: "parameter_invalid", message: reason, param: `location.${field}` }];
  });
  if (errors.length > 0) throw DaybookError.ofFields(errors);
  const result: StoredLocation = {};
  for (const field of locationFields) {
    const change = changes[field];
    const value = change === undefined ? current?.[field] : change;
    if (value !== undefined && value !== null) result[field] = field === "timezone" ? realTimezone(value) : value;
  }
  return Object.keys(result).length > 0 ? result : null;
}

/** What is known after another profile was merged into one: its own fields win. @returns the location, and the fields that came. */
export function uniteLocations(
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

function fieldProblem(field: LocationField, value: string | null | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  const problem = textProblem(value);
  if (problem !== undefined) return `The ${field} ${problem}.`;
  if (Array.from(value).length > lengthMax[field]) return `A ${field} has at most ${lengthMax[field]} characters.`;
  if (field === "country" && !isCountry(value)) return "A country is an ISO 3166-1 alpha-2 code in upper case.";
  if (field === "timezone" && !isTimezone(value)) return "This is not the name of an IANA time zone.";
  return undefined;
}
