/** Names of metrics: from free text to the dotted type of an event. */
import { hash } from "node:crypto";
import { reservedNamespaces, segmentsMax } from "#shared/values/dotted-name.ts";
import { normalizeText } from "#shared/values/text.ts";

/** Characters of a name. */
export const nameLengthMax = 127;

const hashLength = 12;

/**
 * The type that a name stands for: `Placed Order` is `placed.order`. Lower-case; each run of other characters than a-z and 0-9 is a dot; words past
 * the fifth are joined to it; `custom.` stands in front where the first word is the platform's own. A name without any such character, as in
 * many scripts, is `custom.` and a hash of it. The name itself is kept beside the type, so nothing of it is lost.
 */
export function toEventType(name: string): string {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const [first] = words;
  if (first === undefined) return `custom.${hash("sha256", normalOf(name), "hex").slice(0, hashLength)}`;
  const segments = reservedNamespaces.has(first) ? ["custom", ...words] : words;
  return [...segments.slice(0, segmentsMax - 1), segments.slice(segmentsMax - 1).join("")].filter(Boolean).join(".");
}

/** A name that is too long is refused elsewhere. One with too many combining marks in a row stands for itself. */
function normalOf(name: string): string {
  const normal = normalizeText(name, nameLengthMax);
  return "text" in normal ? normal.text : name;
}
