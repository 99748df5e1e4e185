/** Converts metric names (free text) to event types (dotted). */
import { hash } from "node:crypto";
import { reservedNamespaces, segmentsMax } from "#shared/values/dotted-name.ts";
import { normalizeText } from "#shared/values/text.ts";

export const nameLengthMax = 127;

const hashLength = 12;

/**
 * The type of a name: `Placed Order` is `placed.order`. Lower-case; each run of characters other than a-z and 0-9 is a
 * dot; segments past the fifth are joined to it; `custom.` precedes a reserved first word. A name without a-z and 0-9
 * becomes `custom.` and a hash of it. The name is stored beside the type.
 */
export function toEventType(name: string): string {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const [first] = words;
  if (first === undefined) return `custom.${hash("sha256", normalOf(name), "hex").slice(0, hashLength)}`;
  const segments = reservedNamespaces.has(first) ? ["custom", ...words] : words;
  return [...segments.slice(0, segmentsMax - 1), segments.slice(segmentsMax - 1).join("")].filter(Boolean).join(".");
}

/** The event reader refuses too long names. A name with too many combining marks in a row is hashed as it is. */
function normalOf(name: string): string {
  const normal = normalizeText(name, nameLengthMax);
  return "text" in normal ? normal.text : name;
}
