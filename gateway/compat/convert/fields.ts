/**
 * Profile fields without a native counterpart. They are stored as attributes with a dollar sign, such as `$first_name`,
 * returned as fields, and left out of the custom properties.
 */
import { isRawNumber } from "#shared/json/json.ts";
import { locationFields, locationLengthMax, type LocationField } from "#shared/values/location.ts";
import { findTimezone, isCountry } from "#shared/values/places.ts";
import { isLongerThan } from "#shared/values/text.ts";

/** Profile fields that are always stored as attributes. */
export const plainFields = ["first_name", "last_name", "organization", "title", "locale", "image"] as const;
/** Location fields that are always stored as attributes. */
export const plainLocationFields = ["address1", "address2", "latitude", "longitude", "ip"] as const;
/** Holds a phone number that is not E.164. */
export const phoneAttribute = "$phone_number";

/** The attribute that stores a field. */
export function attributeOf(field: string): string {
  return `$${field}`;
}

const textAttributes: ReadonlySet<string> = new Set(
  [...plainFields, ...plainLocationFields, ...locationFields, "phone_number"].map(attributeOf),
);
const numberAttributes: ReadonlySet<string> = new Set(["$latitude", "$longitude"]);

/** Whether an attribute stores a field. A value of another type, written natively, is a custom property. */
export function isFieldAttribute(name: string, value: unknown): boolean {
  if (!textAttributes.has(name)) return false;
  return typeof value === "string" || (numberAttributes.has(name) && (typeof value === "number" || isRawNumber(value)));
}

/** Whether the native location returns a value unchanged. */
export function fitsNatively(field: LocationField, value: string): boolean {
  if (isLongerThan(value, locationLengthMax[field])) return false;
  if (field === "country") return isCountry(value);
  if (field === "timezone") return findTimezone(value) === value;
  return true;
}
