/** Query parameters: everything that a route does not know is refused by name. */
import type { FastifyRequest } from "fastify";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { TimeRangeSchema } from "#proto/daybook/common/v1/range_pb.ts";
import { DaybookError, type ErrorCode } from "#shared/errors.ts";
import { textProblem } from "#shared/json.ts";
import { parseDateTime, toTimestamp } from "#shared/time.ts";

/** What a route takes, each with what it means. These also document it. */
export interface QueryRules {
  /** Names for `filter[name]`. */
  filters?: Readonly<Record<string, string>>;
  /** Names for `filter[name][gte]` and the like, of instants. */
  ranges?: Readonly<Record<string, string>>;
  /** Fields for `sort`, each also with `-`. */
  sorts?: readonly string[];
  /** What the list is in order of unless `sort` says so, such as `-created_at`. */
  sortDefault?: string;
  /** Names for `expand`. */
  expands?: Readonly<Record<string, string>>;
  /** Whether it takes `page[limit]` and `page[after]`. */
  paged?: true;
  /** Whether it takes `resolve`. */
  resolves?: true;
}

/** Bounds of an instant. */
export type TimeRange = MessageInitShape<typeof TimeRangeSchema>;

/** What a request asks for. */
export interface Query {
  filters: ReadonlyMap<string, string>;
  ranges: ReadonlyMap<string, TimeRange>;
  sort: { field: string; ascending: boolean };
  expands: ReadonlySet<string>;
  /** Granted page size. */
  limit: number;
  /** The cursor, as sent. */
  after: string | undefined;
  /** Read the survivor in the place of a merged profile. */
  resolve: boolean;
  /** All that decides what the list holds, as sent and in order: a cursor is good for nothing else. */
  fingerprint: readonly string[];
}

/** Page sizes. */
export const pageLimit = { default: 50, max: 500 } as const;
/** What a range can be asked for by. */
export const rangeOperators = ["gte", "gt", "lte", "lt"] as const;

type RangeOperator = (typeof rangeOperators)[number];

/**
 * Reads the query of a request by the rules of its operation.
 * @throws DaybookError `parameter_unknown`, `unsupported_filter`, `unsupported_sort`, `unsupported_expand` or `parameter_invalid`.
 */
export function queryOf(request: FastifyRequest): Query {
  const rules = request.routeOptions.config.operation?.query ?? {};
  // As Fastify's parser gives it.
  return readQuery(request.query as Record<string, string | string[]>, rules);
}

/** See queryOf. */
export function readQuery(query: Readonly<Record<string, string | string[]>>, rules: QueryRules): Query {
  const reading: Reading = {
    filters: new Map(),
    ranges: new Map(),
    expands: [],
    sort: rules.sortDefault ?? "",
    limit: pageLimit.default,
    after: undefined,
    resolve: true,
  };
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== "string") throw refuse("parameter_invalid", "This parameter is sent more than once.", name);
    if (textProblem(value) !== undefined) throw refuse("parameter_invalid", "This value cannot be looked for.", name);
    readParameter(reading, rules, name, value);
  }
  const { filters, ranges, expands, sort, limit, after, resolve } = reading;
  const list = Object.entries(query).filter(([name]) => name.startsWith("filter["));
  return {
    filters,
    ranges,
    sort: { field: sort.replace(/^-/, ""), ascending: !sort.startsWith("-") },
    expands: new Set(expands),
    limit,
    after,
    resolve,
    fingerprint: [sort, ...list.toSorted(([one], [other]) => (one < other ? -1 : 1)).flat(2)],
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

function readParameter(reading: Reading, rules: QueryRules, name: string, value: string): void {
  const isList = rules.filters !== undefined || rules.ranges !== undefined;
  if (name.startsWith("filter[") && isList) return readFilter(reading, rules, name, value);
  if (name === "sort" && rules.paged) {
    const sorts = rules.sorts ?? [];
    if (!sorts.includes(value.replace(/^-/, ""))) {
      const choice = `Lists here are in order of ${sorts.join(" or ")}, each also with "-".`;
      throw refuse("unsupported_sort", sorts.length > 0 ? choice : "This list cannot be sorted otherwise.", name);
    }
    reading.sort = value;
  } else if (name === "expand") {
    const known = Object.keys(rules.expands ?? {});
    reading.expands = value.split(",");
    if (!reading.expands.every((expand) => known.includes(expand))) {
      const choice = known.length > 0 ? `What can be expanded here: ${known.join(", ")}.` : "Nothing expands here.";
      throw refuse("unsupported_expand", choice, name);
    }
  } else if (name === "page[limit]" && rules.paged) {
    if (!/^[0-9]+$/.test(value) || Number(value) === 0) {
      throw refuse("parameter_invalid", `A page has 1 to ${pageLimit.max} items.`, name);
    }
    reading.limit = Math.min(pageLimit.max, Number(value));
  } else if (name === "page[after]" && rules.paged) {
    reading.after = value;
  } else if (name === "resolve" && rules.resolves) {
    if (value !== "true" && value !== "false") throw refuse("parameter_invalid", "This is true or false.", name);
    reading.resolve = value === "true";
  } else {
    throw refuse("parameter_unknown", "There is no such parameter here.", name);
  }
}

function readFilter(reading: Reading, { filters = {}, ranges = {} }: QueryRules, name: string, value: string): void {
  const [, field = "", operator] = /^filter\[([^\]]*)\](?:\[([^\]]*)\])?$/.exec(name) ?? [];
  if (operator === undefined && Object.hasOwn(filters, field)) {
    reading.filters.set(field, value);
  } else if (isRangeOperator(operator) && Object.hasOwn(ranges, field)) {
    const micros = parseDateTime(value);
    if (micros === undefined) {
      throw refuse("parameter_invalid", "This is not an ISO 8601 date-time with an offset or Z.", name);
    }
    reading.ranges.set(field, { ...reading.ranges.get(field), [operator]: toTimestamp(micros) });
  } else {
    const choice = [
      ...Object.keys(filters).map((known) => `filter[${known}]`),
      ...Object.keys(ranges).map((known) => `filter[${known}][${rangeOperators.join("|")}]`),
    ];
    throw refuse("unsupported_filter", `Filters here are: ${choice.join(", ")}.`, name);
  }
}

function isRangeOperator(text: string | undefined): text is RangeOperator {
  return (rangeOperators as readonly (string | undefined)[]).includes(text);
}

function refuse(code: ErrorCode, message: string, param: string): DaybookError {
  return new DaybookError(code, message, { param });
}
