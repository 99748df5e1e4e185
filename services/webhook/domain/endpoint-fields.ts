/** Rules of the fields of an endpoint, other than its address. */
import { textProblem } from "#shared/json/json.ts";
import { dottedNameExpected, normalizeDottedName } from "#shared/values/dotted-name.ts";
import type { FieldError } from "#shared/values/errors.ts";
import { findShortTextFault } from "#shared/values/event.ts";
import { tryDecodeId, type Uuid } from "#shared/values/ids.ts";
import { isRevision, revisions } from "#shared/values/revisions.ts";
import { isLongerThan } from "#shared/values/text.ts";
import { typeListFaults } from "#shared/values/webhook-type-list.ts";
import { mismatch, quoteName, shorten, unkeepable } from "#shared/values/wording.ts";
import { reservedHeaders } from "./signing.ts";

/** A header that goes with every message. */
export interface Header {
  name: string;
  value: string;
}

/** What events an endpoint wants; an empty list lets all through. */
export interface Filter {
  eventTypes: string[];
  sources: string[];
}

const descriptionLengthMax = 255;
const eventTypesMax = 50;
const sourcesMax = 20;
const sourceLengthMax = 255;
const headersMax = 10;
const headerNameLengthMax = 64;
const headerValueLengthMax = 1_024;
const rateLimitMax = 10_000;
const creatorLengthMax = 64;
const shownLengthMax = 64;

// RFC 9110, section 5.6.2, in lower case.
const headerNamePattern = /^[a-z0-9!#$%&'*+\-.^_`|~]+$/;
const headerValuePattern = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** Beside those that are reserved by name. */
const takenPrefixes = ["webhook-", "daybook-", "proxy-"];

/** Collects the fault of a description. */
export function checkDescription(text: string, faults: FieldError[]): void {
  const problem = textProblem(text);
  if (problem !== undefined) faults.push(unkeepable("description", problem));
  else if (isLongerThan(text, descriptionLengthMax)) {
    faults.push(mismatch("description", `a text of at most ${descriptionLengthMax} characters`, text));
  }
}

/** Collects the faults of types. @returns each once, in their order. */
export function readTypes(types: readonly string[], faults: FieldError[]): string[] {
  faults.push(...typeListFaults(types, "types"));
  return [...new Set(types)];
}

/** Collects the faults of a filter. */
export function readFilter(
  filter: { eventTypes: readonly string[]; sources: readonly string[] } | undefined,
  faults: FieldError[],
): Filter {
  const { eventTypes = [], sources = [] } = filter ?? {};
  const root = "filter";
  if (isTooLong(eventTypes, eventTypesMax, `${root}.event_types`, faults)) return { eventTypes: [], sources: [] };
  if (isTooLong(sources, sourcesMax, `${root}.sources`, faults)) return { eventTypes: [], sources: [] };
  const names = eventTypes.flatMap((text, index) => readEventType(text, `${root}.event_types.${index}`, faults));
  for (const [index, source] of sources.entries()) {
    const fault = findShortTextFault(source, sourceLengthMax, `${root}.sources.${index}`);
    if (fault) faults.push(fault);
  }
  return { eventTypes: [...new Set(names)], sources: [...new Set(sources)] };
}

const prefixEnd = ".*";

function readEventType(text: string, param: string, faults: FieldError[]): string[] {
  const isPrefix = text.endsWith(prefixEnd);
  const reading = normalizeDottedName(isPrefix ? text.slice(0, -prefixEnd.length) : text, param);
  if ("name" in reading) return [isPrefix ? reading.name + prefixEnd : reading.name];
  // Names of the platform cannot be written, but they can be waited for.
  if (reading.error.code === "reserved_event_type") return [text.replaceAll("_", ".")];
  const expected = `${dottedNameExpected}, or the first words of such names and ".*"`;
  faults.push(mismatch(param, expected, text, { code: "invalid_event_type", quoted: true }));
  return [];
}

/**
 * Collects the faults of headers.
 * @param kept names whose value need not be given, because it is known.
 * @returns them with names in lower case; the value of one that is kept is empty.
 */
export function readHeaders(
  headers: readonly Header[],
  faults: FieldError[],
  kept: ReadonlySet<string> = new Set(),
): Header[] {
  const param = "headers";
  if (isTooLong(headers, headersMax, param, faults)) return [];
  const seen = new Set<string>();
  return headers.map(({ name, value }, index) => {
    const at = `${param}.${index}`;
    const lower = name.length <= headerNameLengthMax ? name.toLowerCase() : "";
    if (!headerNamePattern.test(lower)) {
      const expected = `the name of an HTTP header, such as "x-shop": at most ${headerNameLengthMax} characters`;
      faults.push(mismatch(`${at}.name`, expected, name, { quoted: true }));
    } else if (reservedHeaders.has(lower) || takenPrefixes.some((prefix) => lower.startsWith(prefix))) {
      faults.push(refused(`${at}.name`, `must not be ${lower}: Daybook or HTTP sets it`));
    } else if (seen.has(lower)) faults.push(refused(`${at}.name`, `repeats ${lower}. Send each header once`));
    seen.add(lower);
    if (value === "" && kept.has(lower)) return { name: lower, value };
    if (value.length > headerValueLengthMax || !headerValuePattern.test(value)) {
      const expected = `1 to ${headerValueLengthMax} visible characters of ASCII, with spaces only within`;
      faults.push(mismatch(`${at}.value`, expected, value));
    }
    return { name: lower, value };
  });
}

/** Collects the fault of a limit of messages a second. */
export function checkRateLimit(limit: number | undefined, faults: FieldError[]): void {
  if (limit === undefined || (Number.isInteger(limit) && limit >= 1 && limit <= rateLimitMax)) return;
  const expected = `a whole number from 1 to ${rateLimitMax}`;
  faults.push(mismatch("rate_limit_per_second", expected, limit, { quoted: true }));
}

/** Collects the fault of a revision. */
export function checkRevision(revision: string, faults: FieldError[]): void {
  if (isRevision(revision)) return;
  const message = `\`revision\` must be ${revisions.join(" or ")}; got ${shorten(revision, shownLengthMax)}.`;
  faults.push({ code: "invalid_revision", message, param: "revision" });
}

/** With whom an endpoint ends. */
export interface EndpointOwner {
  kind: "key" | "inst";
  id: Uuid;
}

/** Collects the fault of who makes an endpoint. @returns with whom it ends; undefined if it is the property's own. */
export function readOwner(createdBy: string, faults: FieldError[]): EndpointOwner | undefined {
  if (createdBy === "" || createdBy.length > creatorLengthMax || textProblem(createdBy) !== undefined) {
    faults.push(mismatch("created_by", "the id of a key, an installation or a member, or a name", createdBy));
    return undefined;
  }
  for (const kind of ["key", "inst"] as const) {
    const id = tryDecodeId(kind, createdBy);
    if (id !== undefined) return { kind, id };
  }
  return undefined;
}

function isTooLong(items: readonly unknown[], max: number, param: string, faults: FieldError[]): boolean {
  if (items.length <= max) return false;
  const message = `\`${param}\` must have at most ${max} items; got ${items.length}.`;
  faults.push({ code: "too_many_items", message, param });
  return true;
}

function refused(param: string, reason: string): FieldError {
  return { code: "parameter_invalid", message: `${quoteName(param)} ${reason}.`, param };
}
