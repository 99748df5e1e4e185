/** Suggests a known field for an unknown one. */
import { closest, distance } from "fastest-levenshtein";
import type { FieldError } from "#shared/values/errors.ts";
import { listed, quoteName, shorten } from "#shared/values/wording.ts";

// Longer names are no misspellings, and the cost of comparing is the product of both lengths.
const comparedLengthMax = 64;
const listedFieldsMax = 12;

/** Names that other products use, each with candidates, the likeliest first. */
const aliases: Readonly<Record<string, readonly string[]>> = {
  event: ["type"],
  event_name: ["type"],
  event_type: ["type"],
  name: ["type", "name"],
  email: ["identifier", "identifiers"],
  phone: ["identifier", "identifiers"],
  phone_number: ["identifier", "identifiers"],
  external_id: ["identifier", "identifiers"],
  user_id: ["identifier", "identifiers"],
  customer_id: ["identifier", "identifiers"],
  profile: ["identifier", "profile_id"],
  data: ["properties", "attributes"],
  traits: ["attributes"],
  custom_attributes: ["attributes"],
  metadata: ["properties", "attributes"],
  amount: ["value"],
  price: ["value"],
  time: ["occurred_at"],
  timestamp: ["occurred_at"],
  date: ["occurred_at"],
  event_id: ["dedupe_id"],
  unique_id: ["dedupe_id"],
  message_id: ["dedupe_id"],
  items: ["events", "profiles"],
  batch: ["events", "profiles"],
  postal_code: ["zip"],
  postcode: ["zip"],
  state: ["region"],
  tz: ["timezone"],
  time_zone: ["timezone"],
  start: ["from"],
  end: ["to"],
  metric_name: ["metric"],
  group: ["group_by"],
  filters: ["filter"],
  operations: ["attribute_operations"],
};

/** The known name that an unknown one most likely means, if one is close. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const meant = Object.hasOwn(aliases, name) ? aliases[name]?.find((alias) => known.includes(alias)) : undefined;
  if (meant !== undefined || known.length === 0 || name.length > comparedLengthMax) return meant;
  const near = closest(name.toLowerCase(), [...known]);
  return distance(name.toLowerCase(), near) <= Math.max(1, Math.floor(name.length / 3)) ? near : undefined;
}

/** @param known the names of known fields. */
export function unknownField(name: string, param: string, known: readonly string[]): FieldError {
  const meant = nearestName(name, known);
  const fields = known.slice(0, listedFieldsMax).map(quoteName);
  const hint =
    meant === undefined ? `The fields here are ${listed(fields, "and")}.` : `Did you mean ${quoteName(meant)}?`;
  const field = quoteName(shorten(param, comparedLengthMax * 2));
  return { code: "parameter_unknown", message: `${field} is not a known field. ${hint}`, param };
}
