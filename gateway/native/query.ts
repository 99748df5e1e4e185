/** Query parameters. A parameter that the route does not know is refused by name. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { TimeRangeSchema } from "#proto/daybook/common/v1/range_pb.ts";
import { fieldErrorsMax, type ErrorCode, type FieldError } from "#shared/values/errors.ts";
import { textProblem } from "#shared/json/json.ts";
import { parseDateTime, toTimestamp } from "#shared/values/time.ts";
import { dateTimeExpected } from "#shared/values/times.ts";
import { listed, mismatch, quoteName, unkeepable } from "#shared/values/wording.ts";
import { nearestName } from "../unknown-fields.ts";

/** The meaning of a filter, and its values where not every text is valid. */
export type Filter =
  | string
  | { description: string; oneOf: readonly string[] }
  | { description: string; pattern?: string; check: (value: string, param: string) => FieldError | undefined };

/** The parameters of a route with their meanings, which also document it. */
export interface QueryRules {
  /** Filters, by the name in `filter[name]`. */
  filters?: Readonly<Record<string, Filter>>;
  /** Ranges of instants, by the name in `filter[name][gte]` and the other operators. */
  ranges?: Readonly<Record<string, string>>;
  /** Fields for `sort`, each also with `-` in front. */
  sorts?: readonly string[];
  /** The order without `sort`, such as `-created_at`. */
  sortDefault?: string;
  /** Meanings of the names for `expand`. */
  expands?: Readonly<Record<string, string>>;
  /** Whether the route takes `page[limit]` and `page[after]`. */
  paged?: true;
  /** Whether the route takes `resolve`. */
  resolves?: true;
}

export type TimeRange = MessageInitShape<typeof TimeRangeSchema>;

/** A query as read. */
export interface Query {
  filters: ReadonlyMap<string, string>;
  ranges: ReadonlyMap<string, TimeRange>;
  sort: { field: string; ascending: boolean };
  expands: ReadonlySet<string>;
  /** The page size, at most pageLimit.max. */
  limit: number;
  after: string | undefined;
  /** Read the survivor instead of a merged profile. */
  resolve: boolean;
  /** The sort and the filters as sent, sorted by name. A cursor is bound to them. */
  fingerprint: readonly string[];
}

export const pageLimit = { default: 50, max: 500 } as const;
export const rangeOperators = ["gte", "gt", "lte", "lt"] as const;

type RangeOperator = (typeof rangeOperators)[number];

/**
 * @returns the valid parts of a query, and its faults, at most 20: `parameter_unknown`, `parameter_invalid`,
 * `unsupported_filter`, `unsupported_sort`, `unsupported_expand`, or the code of a filter's check.
 */
export function readQuery(
  query: Readonly<Record<string, string | string[]>>,
  rules: QueryRules,
): { query: Query; faults: FieldError[] } {
  const reading: Reading = {
    filters: new Map(),
    ranges: new Map(),
    expands: [],
    sort: rules.sortDefault ?? "",
    limit: pageLimit.default,
    after: undefined,
    resolve: true,
  };
  const faults: FieldError[] = [];
  for (const [name, value] of Object.entries(query)) {
    if (faults.length >= fieldErrorsMax) break;
    const fault = findTextFault(name, value) ?? readParameter(reading, rules, name, value as string);
    if (fault) faults.push(fault);
  }
  const { filters, ranges, expands, sort, limit, after, resolve } = reading;
  const list = Object.entries(query).filter(([name]) => name.startsWith("filter["));
  return {
    query: {
      filters,
      ranges,
      sort: { field: sort.replace(/^-/, ""), ascending: !sort.startsWith("-") },
      expands: new Set(expands),
      limit,
      after,
      resolve,
      fingerprint: [sort, ...list.toSorted(([one], [other]) => (one < other ? -1 : 1)).flat(2)],
    },
    faults,
  };
}

interface Reading {
  filters: Map<string, string>;
  ranges: Map<string, TimeRange>;
  expands: string[];
  sort: string;
  limit: number;
  after: string | undefined;
  resolve: boolean;
}

/** Finds faults that no parameter may have: sent more than once, or text that cannot be stored. */
function findTextFault(name: string, value: string | string[]): FieldError | undefined {
  if (typeof value !== "string") {
    return faultOf("parameter_invalid", name, `${quoteName(name)} must be sent once; got it ${value.length} times.`);
  }
  const problem = textProblem(value);
  return problem === undefined ? undefined : unkeepable(name, problem);
}

/** Reads a parameter into the query. @returns its fault, if any. */
function readParameter(reading: Reading, rules: QueryRules, name: string, value: string): FieldError | undefined {
  const isList = rules.filters !== undefined || rules.ranges !== undefined;
  if (name.startsWith("filter[") && isList) return readFilter(reading, rules, name, value);
  if (name === "sort" && rules.paged) {
    if (!rules.sorts?.includes(value.replace(/^-/, ""))) return unsupportedSort(rules.sorts ?? [], value);
    reading.sort = value;
  } else if (name === "expand") {
    const known = Object.keys(rules.expands ?? {});
    const unknown = value.split(",").find((expand) => !known.includes(expand));
    if (unknown !== undefined) return unsupportedExpand(known, unknown);
    reading.expands = value.split(",");
  } else if (name === "page[limit]" && rules.paged) {
    if (!/^[0-9]+$/.test(value) || Number(value) === 0) {
      return mismatch(name, `a whole number from 1 to ${pageLimit.max} such as 50`, value, { quoted: true });
    }
    reading.limit = Math.min(pageLimit.max, Number(value));
  } else if (name === "page[after]" && rules.paged) {
    reading.after = value;
  } else if (name === "resolve" && rules.resolves) {
    if (value !== "true" && value !== "false") return mismatch(name, '"true" or "false"', value, { quoted: true });
    reading.resolve = value === "true";
  } else {
    return unknownParameter(rules, name);
  }
  return undefined;
}

function readFilter(
  reading: Reading,
  { filters = {}, ranges = {} }: QueryRules,
  name: string,
  value: string,
): FieldError | undefined {
  const [, field = "", operator] = /^filter\[([^\]]*)\](?:\[([^\]]*)\])?$/.exec(name) ?? [];
  if (operator === undefined && Object.hasOwn(filters, field)) {
    reading.filters.set(field, value);
    return findFilterFault(filters[field] as Filter, value, name);
  }
  if (isRangeOperator(operator) && Object.hasOwn(ranges, field)) {
    const micros = parseDateTime(value);
    if (micros === undefined) return withPlusHint(mismatch(name, dateTimeExpected, value, { quoted: true }), value);
    reading.ranges.set(field, { ...reading.ranges.get(field), [operator]: toTimestamp(micros) });
    return undefined;
  }
  const choice = [
    ...Object.keys(filters).map((known) => `filter[${known}]`),
    ...Object.keys(ranges).map((known) => `filter[${known}][${rangeOperators.join("|")}]`),
  ];
  const names = listed(choice.map(quoteName), "and");
  const message = `${quoteName(name)} is not a filter of this list. Its filters are ${names}.`;
  return faultOf("unsupported_filter", name, message);
}

function findFilterFault(filter: Filter, value: string, name: string): FieldError | undefined {
  if (typeof filter === "string") return undefined;
  if ("check" in filter) {
    const found = filter.check(value, name);
    return found && withPlusHint(found, value);
  }
  const expected = `one of ${listed(
    filter.oneOf.map((one) => `"${one}"`),
    "or",
  )}`;
  return filter.oneOf.includes(value) ? undefined : mismatch(name, expected, value, { quoted: true });
}

/** A bare plus in a query is decoded as a space: in front of a phone number or of the offset of a time. */
function withPlusHint(found: FieldError, value: string): FieldError {
  if (!/^ \d|:[\d.]+ \d/.test(value)) return found;
  return { ...found, message: `${found.message} A "+" in a query is read as a space: write it as %2B.` };
}

function unsupportedSort(sorts: readonly string[], value: string): FieldError {
  const choice = listed(
    sorts.flatMap((sort) => [`"${sort}"`, `"-${sort}"`]),
    "or",
  );
  if (sorts.length > 0) return mismatch("sort", choice, value, { code: "unsupported_sort", quoted: true });
  return faultOf("unsupported_sort", "sort", "`sort` must be left out: this list has one order only.");
}

function unsupportedExpand(known: readonly string[], unknown: string): FieldError {
  const choice = `a list joined by commas of ${listed(
    known.map((name) => `"${name}"`),
    "and",
  )}`;
  if (known.length > 0) return mismatch("expand", choice, unknown, { code: "unsupported_expand", quoted: true });
  return faultOf("unsupported_expand", "expand", "`expand` must be left out: nothing expands here.");
}

function unknownParameter(rules: QueryRules, name: string): FieldError {
  const known = [
    ...Object.keys(rules.filters ?? {}).map((field) => `filter[${field}]`),
    ...(rules.paged ? ["sort", "page[limit]", "page[after]"] : []),
    ...(rules.expands ? ["expand"] : []),
    ...(rules.resolves ? ["resolve"] : []),
  ];
  const inFilter = `filter[${name}]`;
  const meant = known.includes(inFilter) ? inFilter : nearestName(name, known);
  const hint = meant === undefined ? "" : ` Did you mean ${quoteName(meant)}?`;
  return faultOf("parameter_unknown", name, `${quoteName(name)} is not a known query parameter here.${hint}`);
}

function isRangeOperator(text: string | undefined): text is RangeOperator {
  return (rangeOperators as readonly (string | undefined)[]).includes(text);
}

function faultOf(code: ErrorCode, param: string, message: string): FieldError {
  return { code, message, param };
}
