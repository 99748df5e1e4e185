/** An endpoint as its form has it. */
import type { Endpoint } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { allTypes } from "./types.ts";

export interface HeaderDraft {
  /** Of the row in the form. */
  row: number;
  name: string;
  value: string;
  /** It is set: without a value it keeps the one that it has. */
  isKept: boolean;
}

export interface Draft {
  url: string;
  description: string;
  /** All types, also those that are added later. */
  isAll: boolean;
  types: ReadonlySet<string>;
  /** One a line. */
  eventTypes: string;
  /** One a line. */
  sources: string;
  headers: readonly HeaderDraft[];
  /** Empty: no limit. */
  rateLimit: string;
}

export const emptyDraft: Draft = {
  url: "",
  description: "",
  isAll: false,
  types: new Set(["event.recorded"]),
  eventTypes: "",
  sources: "",
  headers: [],
  rateLimit: "",
};

export function draftOf(endpoint: Endpoint): Draft {
  const { url, description, types, filter, headerNames, rateLimitPerSecond } = endpoint;
  return {
    url,
    description,
    isAll: types.includes(allTypes),
    types: new Set(types.filter((type) => type !== allTypes)),
    eventTypes: (filter?.eventTypes ?? []).join("\n"),
    sources: (filter?.sources ?? []).join("\n"),
    headers: headerNames.map((name, row) => ({ row, name, value: "", isKept: true })),
    rateLimit: rateLimitPerSecond === undefined ? "" : String(rateLimitPerSecond),
  };
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

const typesOf = ({ isAll, types }: Draft): string[] => (isAll ? [allTypes] : [...types]);
const filterOf = ({ eventTypes, sources }: Draft) => ({ eventTypes: linesOf(eventTypes), sources: linesOf(sources) });
const headersOf = ({ headers }: Draft) => headers.map(({ name, value }) => ({ name: name.trim(), value }));

/** Whether it chooses a type that the filter is about. */
export const hasEvents = ({ isAll, types }: Draft): boolean =>
  isAll || types.has("event.recorded") || types.has("event.linked");

/** What is wrong in the form before it is sent. */
export function rateFault({ rateLimit }: Draft): string | undefined {
  const text = rateLimit.trim();
  if (text === "" || (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 10_000)) return undefined;
  return "A whole number from 1 to 10,000, or nothing.";
}

export function isComplete(draft: Draft): boolean {
  const areNamed = draft.headers.every(({ name, value, isKept }) => name.trim() !== "" && (isKept || value !== ""));
  return draft.url.trim() !== "" && typesOf(draft).length > 0 && areNamed && rateFault(draft) === undefined;
}

/** What CreateEndpoint takes. */
export function newEndpoint(draft: Draft) {
  const rateLimit = draft.rateLimit.trim();
  const filter = filterOf(draft);
  return {
    url: draft.url.trim(),
    description: draft.description.trim(),
    types: typesOf(draft),
    headers: headersOf(draft),
    ...(hasEvents(draft) && filter.eventTypes.length + filter.sources.length > 0 && { filter }),
    ...(rateLimit !== "" && { rateLimitPerSecond: Number(rateLimit) }),
  };
}

/** What a form changes of an endpoint; nothing for what stays. */
export function changesOf(endpoint: Endpoint, draft: Draft) {
  const before = draftOf(endpoint);
  const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
  const types = typesOf(draft);
  const areHeadersSame = isSame(draft.headers, before.headers);
  const filter = filterOf(draft);
  return {
    ...(draft.url.trim() !== before.url && { url: draft.url.trim() }),
    ...(draft.description.trim() !== before.description && { description: draft.description.trim() }),
    ...(!isSame(types.toSorted(), endpoint.types.toSorted()) && { types }),
    ...(!isSame(filter, filterOf(before)) && { filter }),
    ...(!areHeadersSame && { headers: { headers: headersOf(draft) } }),
    ...(draft.rateLimit.trim() !== before.rateLimit && { rateLimitPerSecond: Number(draft.rateLimit.trim()) }),
  };
}

const fields = new Set(["url", "description", "types", "filter", "headers", "rate_limit_per_second"]);

/**
 * What is wrong with fields of the form: of a list, with each of its items.
 * @param faults param → message, as the service says it: `headers.1.name` is of the second header.
 */
export function faultsOf(faults: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [param, message] of faults) {
    const [field = "", part] = param.split(".");
    if (!fields.has(field)) continue;
    const name = field === "filter" && part !== undefined ? `filter.${part}` : field;
    found.set(name, [found.get(name) ?? [], message].flat().join(" "));
  }
  return found;
}
