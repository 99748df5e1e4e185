/** Events in the shape of revision 2023-02-22: a flat metric, and a flat profile with `$email` and the like. */
import type { Static } from "typebox";
import { isJsonObject, type JsonObject } from "#shared/json/json.ts";
import { numberText } from "../coercion.ts";
import type { EventAttributes, FlatEventAttributes } from "../schemas.ts";

/** Whether an event is flat: its metric has a name and no `data`. */
export function isFlatEvent(body: unknown): boolean {
  const attributes = isJsonObject(body) && isJsonObject(body.data) ? body.data.attributes : undefined;
  const metric = isJsonObject(attributes) ? attributes.metric : undefined;
  return isJsonObject(metric) && typeof metric.name === "string" && metric.data === undefined;
}

// Beyond any accepted time, and within the range of Date.
const secondsMax = 1e11;

/** Fields by their key in a flat profile. */
const flatFields: Readonly<Record<string, string>> = {
  $email: "email",
  $phone_number: "phone_number",
  $id: "external_id",
  $external_id: "external_id",
  $anonymous: "anonymous_id",
  $anonymous_id: "anonymous_id",
  $exchange_id: "_kx",
  $kx: "_kx",
  _kx: "_kx",
};
for (const field of ["first_name", "last_name", "organization", "title", "locale", "image"]) {
  Object.assign(flatFields, { [`$${field}`]: field });
}
const flatLocation = new Set(
  ["address1", "address2", "city", "country", "latitude", "longitude", "region", "zip", "timezone", "ip"].map(
    (field) => `$${field}`,
  ),
);

/** Converts a flat event to the current shape. */
export function fromFlatEvent(flat: Static<typeof FlatEventAttributes>): Static<typeof EventAttributes> {
  const { metric, profile, properties, time, unique_id: uniqueId, value, ...rest } = flat;
  const given = Object.entries(properties ?? {}) as [string, unknown][];
  const propertyOf = (name: string): unknown => given.find(([key]) => key === name)?.[1];
  const eventId = propertyOf("$event_id");
  const fields: Record<string, unknown> = {};
  const location: JsonObject = {};
  const others: [string, unknown][] = [];
  for (const [key, entry] of Object.entries(profile as JsonObject)) {
    if (Object.hasOwn(flatFields, key)) fields[flatFields[key] as string] = entry;
    else if (flatLocation.has(key)) location[key.slice(1)] = entry;
    else others.push([key, entry]);
  }
  const attributes = {
    ...fields,
    ...(Object.keys(location).length > 0 ? { location } : {}),
    ...(others.length > 0 ? { properties: Object.fromEntries(others) } : {}),
  };
  return {
    ...rest,
    metric: { data: { type: "metric", attributes: { name: metric.name } } },
    profile: { data: { type: "profile", attributes } },
    properties: properties ?? {},
    ...(value === undefined ? { value: propertyOf("$value") } : { value }),
    // Flat events may have Unix seconds as their time.
    time:
      typeof time === "number" && Math.abs(time) < secondsMax ? new Date(time * 1000).toISOString() : (time as string),
    // `$event_id` may be a number, such as an order number.
    unique_id: uniqueId ?? (typeof eventId === "string" ? eventId : (numberText(eventId) ?? null)),
  };
}

/** Maps a pointer into the current shape to one into the flat event. @param attributes as they were sent. */
export function toFlatPointer(attributes: unknown): (pointer: string) => string {
  const isSent = (field: string): boolean => isJsonObject(attributes) && attributes[field] !== undefined;
  const moved: Readonly<Record<string, string>> = {
    ...(isSent("value") ? {} : { "/data/attributes/value": "/data/attributes/properties/$value" }),
    ...(isSent("unique_id") ? {} : { "/data/attributes/unique_id": "/data/attributes/properties/$event_id" }),
  };
  return (pointer) => {
    const [, field, rest = ""] =
      /^\/data\/attributes\/profile\/data\/attributes(?:\/location)?(?:\/(\w+))?(.*)$/.exec(pointer) ?? [];
    if (pointer.startsWith("/data/attributes/metric/")) return "/data/attributes/metric/name";
    if (!pointer.startsWith("/data/attributes/profile/")) return moved[pointer] ?? pointer;
    if (field === undefined) return "/data/attributes/profile";
    if (field === "properties") return `/data/attributes/profile${rest}`;
    const [key = field] = Object.entries(flatFields).find(([, name]) => name === field) ?? [`$${field}`];
    return `/data/attributes/profile/${key}${rest}`;
  };
}
