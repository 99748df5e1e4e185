/**
 * Fields of profiles that the native model has no place for. They are kept as attributes under their name with a dollar sign, such as `$first_name`,
 * given back as the fields they are, and not shown among the custom properties.
 */
import { isRawNumber } from "#shared/json/json.ts";
import { locationFields, locationLengthMax, type LocationField } from "#shared/values/location.ts";
import { findTimezone, isCountry } from "#shared/values/places.ts";
import { isLongerThan } from "#shared/values/text.ts";

/** Fields of a profile that have no native place at all. */
export const plainFields = ["first_name", "last_name", "organization", "title", "locale", "image"] as const;
/** Fields of a location that have none. */
export const plainLocationFields = ["address1", "address2", "latitude", "longitude", "ip"] as const;
/** A phone number that is none. */
export const phoneAttribute = "$phone_number";

/** The attribute that a field is kept as. */
export function attributeOf(field: string): string {
  return `$${field}`;
}

const textAttributes: ReadonlySet<string> = new Set(
  [...plainFields, ...plainLocationFields, ...locationFields, "phone_number"].map(attributeOf),
);
const numberAttributes: ReadonlySet<string> = new Set(["$latitude", "$longitude"]);

/** Whether an attribute stands for a field. One that something else was written under, natively, is a custom property like any other. */
export function isFieldAttribute(name: string, value: unknown): boolean {
  if (!textAttributes.has(name)) return false;
  return typeof value === "string" || (numberAttributes.has(name) && (typeof value === "number" || isRawNumber(value)));
}

/** Whether the native location holds a value so that it comes back as it is. */
export function fitsNatively(field: LocationField, value: string): boolean {
  if (isLongerThan(value, locationLengthMax[field])) return false;
  if (field === "country") return isCountry(value);
  if (field === "timezone") return findTimezone(value) === value;
  return true;
}
