/** The type of an event that was refused, as far as it can be read. */
import { isJsonObject } from "#shared/json/json.ts";
import { normalizeDottedName } from "#shared/values/dotted-name.ts";
import { nameLengthMax, toEventType } from "../compat/convert/names.ts";

const writesOfEvents = /^(?:compat\.)?events?(?:\.|_bulk)/;

/**
 * The type of a body or of an item.
 * @param operation its name: only writes of events have types.
 * @returns undefined without a valid type; the name of a metric is converted.
 */
export function typeOfEvent(body: unknown, operation: string): string | undefined {
  if (!writesOfEvents.test(operation) || !isJsonObject(body)) return undefined;
  const type = body.type ?? body.event_type;
  if (!operation.startsWith("compat.")) return typeof type === "string" ? normal(type) : undefined;
  const attributes = within(body, "data", "attributes");
  const metric = isJsonObject(attributes) ? attributes.metric : undefined;
  const name = within(metric, "data", "attributes", "name") ?? within(metric, "name");
  if (typeof name !== "string" || name === "" || name.length > 2 * nameLengthMax) return undefined;
  return toEventType(name);
}

function normal(type: string): string | undefined {
  const reading = normalizeDottedName(type, "type");
  return "name" in reading ? reading.name : undefined;
}

function within(value: unknown, ...path: string[]): unknown {
  let at = value;
  for (const key of path) {
    if (!isJsonObject(at)) return undefined;
    at = at[key];
  }
  return at;
}
