/** Where a person is, as far as known. */
import { DaybookError, type FieldError } from "#shared/errors.ts";
import { textProblem } from "#shared/json.ts";

/** The fields of a location, in the order in which they are shown. */
export const locationFields = ["city", "region", "country", "timezone", "zip"] as const;

/** One of them. */
export type LocationField = (typeof locationFields)[number];

/** What is known; a field that is not known is absent. */
export type StoredLocation = Partial<Record<LocationField, string>>;

/** New values by field; null empties a field, and a field left out stays. */
export type LocationChanges = Partial<Record<LocationField, string | null>>;

const lengthMax: Record<LocationField, number> = { city: 255, region: 255, country: 2, timezone: 255, zip: 32 };

// Assigned codes and no others: the list of the Unicode CLDR in this Node has reserved and withdrawn ones too, so it cannot be asked.
// Source: ISO 3166-1, the 249 officially assigned alpha-2 codes.
const countries: ReadonlySet<string> = new Set(
  (
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI " +
    "CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP " +
    "GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK " +
    "LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA " +
    "PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF " +
    "TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW"
  ).split(" "),
);

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
  if (field === "country" && !countries.has(value)) return "A country is an ISO 3166-1 alpha-2 code in upper case.";
  if (field === "timezone" && !isTimezone(value)) return "This is not the name of an IANA time zone.";
  return undefined;
}

function isTimezone(name: string): boolean {
  // Intl also takes offsets such as +01:00, which are no names.
  return /^[A-Za-z]/.test(name) && resolveTimezone(name) !== undefined;
}

/** Intl takes a name in any case; it is kept in its own, but an alias stays the alias it is. */
function realTimezone(name: string): string {
  const resolved = resolveTimezone(name);
  return resolved?.toLowerCase() === name.toLowerCase() ? resolved : name;
}

function resolveTimezone(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
