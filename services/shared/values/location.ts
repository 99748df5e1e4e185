/** Fields of locations, and their rules. */
import type { FieldError } from "./errors.ts";
import { textProblem } from "../json/json.ts";
import { findTimezone, isCountry } from "./places.ts";
import { isLongerThan } from "./text.ts";
import { mismatch, unkeepable } from "./wording.ts";

/** The fields of a location, in the order of answers. */
export const locationFields = ["city", "region", "country", "timezone", "zip"] as const;

export type LocationField = (typeof locationFields)[number];

/** The most characters of each field. */
export const locationLengthMax: Record<LocationField, number> = {
  city: 255,
  region: 255,
  country: 2,
  timezone: 255,
  zip: 32,
};

/** The expected form of each field, for messages. */
export const locationExpected: Record<LocationField, string> = {
  city: `a text of at most ${locationLengthMax.city} characters such as "Lisbon"`,
  region: `a text of at most ${locationLengthMax.region} characters such as "Lisboa"`,
  country: 'an ISO 3166-1 alpha-2 country code in upper case such as "PT", or "XK"',
  timezone: 'the name of an IANA time zone such as "Europe/Lisbon"',
  zip: `a text of at most ${locationLengthMax.zip} characters such as "1100-148"`,
};

/** Fields that messages may quote, because they are public names and no address. */
const quoted: ReadonlySet<LocationField> = new Set(["country", "timezone"]);

/** Finds the fault of a field. @param param its name. */
export function findLocationFault(field: LocationField, text: string, param: string): FieldError | undefined {
  const problem = textProblem(text);
  if (problem !== undefined) return unkeepable(param, problem);
  const isGood =
    !isLongerThan(text, locationLengthMax[field]) &&
    (field !== "country" || isCountry(text)) &&
    (field !== "timezone" || findTimezone(text) !== undefined);
  return isGood ? undefined : mismatch(param, locationExpected[field], text, { quoted: quoted.has(field) });
}
