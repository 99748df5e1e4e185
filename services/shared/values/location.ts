/** Locations: which fields there are, and what each holds. */
import type { FieldError } from "./errors.ts";
import { textProblem } from "../json/json.ts";
import { findTimezone, isCountry } from "./places.ts";
import { isLongerThan } from "./text.ts";
import { mismatch, unkeepable } from "./wording.ts";

/** The fields of a location, in the order in which they are shown. */
export const locationFields = ["city", "region", "country", "timezone", "zip"] as const;

/** One of them. */
export type LocationField = (typeof locationFields)[number];

/** Characters of each. */
export const locationLengthMax: Record<LocationField, number> = {
  city: 255,
  region: 255,
  country: 2,
  timezone: 255,
  zip: 32,
};

/** What each field holds, with an example. */
export const locationExpected: Record<LocationField, string> = {
  city: `a text of at most ${locationLengthMax.city} characters such as "Lisbon"`,
  region: `a text of at most ${locationLengthMax.region} characters such as "Lisboa"`,
  country: 'an ISO 3166-1 alpha-2 country code in upper case such as "PT", or "XK"',
  timezone: 'the name of an IANA time zone such as "Europe/Lisbon"',
  zip: `a text of at most ${locationLengthMax.zip} characters such as "1100-148"`,
};

/** Fields that are public names and say nothing of a person's address. */
const quoted: ReadonlySet<LocationField> = new Set(["country", "timezone"]);

/** What is wrong with a field of a location, if anything is. @param param names it. */
export function findLocationFault(field: LocationField, text: string, param: string): FieldError | undefined {
  const problem = textProblem(text);
  if (problem !== undefined) return unkeepable(param, problem);
  const isGood =
    !isLongerThan(text, locationLengthMax[field]) &&
    (field !== "country" || isCountry(text)) &&
    (field !== "timezone" || findTimezone(text) !== undefined);
  return isGood ? undefined : mismatch(param, locationExpected[field], text, { quoted: quoted.has(field) });
}
