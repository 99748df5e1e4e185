/** Query parameters, as the operation's rules have them, and pages: what a cursor says of a list holds for the pages behind it. */
import type { FastifyRequest } from "fastify";
import { DaybookError, type ErrorCode } from "#shared/values/errors.ts";
import { isJsonObject, parseJson, textProblem } from "#shared/json/json.ts";
import type { Cursors } from "../cursor.ts";
import { requireScope, type Caller } from "../plugins/authentication.ts";
import { callerOf } from "../plugins/request.ts";
import { fieldsOfType, findUnknownField, isKnownType } from "./known-fields.ts";
import { FilterError, parseFilter, type Condition } from "./filter.ts";

/** What an operation takes. These also document it. */
export interface QueryRules {
  /** Operators by field. */
  filters?: Readonly<Record<string, readonly string[]>>;
  /** All values that a field of a filter can have, for those that have few. */
  filterValues?: Readonly<Record<string, readonly string[]>>;
  /** Fields for `sort`, each also with `-`; the default stands first, as it is sent. */
  sorts?: readonly string[];
  sortDefault?: string;
  /** Scopes that an order needs beside that of the operation, because it tells what it is by. */
  sortScopes?: Readonly<Record<string, string>>;
  /** Page sizes; a list without them takes only a cursor. */
  page?: { sizeDefault: number; sizeMax: number; isFixed?: true };
  /** What can be included; what there is nothing of here is empty. */
  includes?: readonly string[];
  /** Other names for them, of older revisions. */
  includeAliases?: Readonly<Record<string, string>>;
  /** Types that `fields[type]` can be asked for. */
  fields?: readonly string[];
  /** Names for `additional-fields[profile]`. */
  additional?: readonly string[];
}

/** What a request asks for. */
export interface Query {
  conditions: readonly Condition[];
  sort: { field: string; ascending: boolean };
  /** Items on a page. */
  size: number;
  /** Where the page begins, as the page before has written it; where it ends, when it is read backwards. */
  after: string | undefined;
  /** That the page ends before `after`: it is read in the other direction, and turned round. */
  backwards: boolean;
  includes: ReadonlySet<string>;
  /** The paths asked for, by type. */
  fields: ReadonlyMap<string, readonly string[]>;
  additional: ReadonlySet<string>;
  /** The cursor of the page behind a place. */
  writeCursor(after: string): string;
  /**
   * The cursors of the pages around this one, of a list that can be read backwards.
   * @param first where its first item stands, and `last` where its last does; undefined for an empty page.
   * @param hasMore whether more follow in the direction in which it was read.
   */
  pagesAround(first: string | undefined, last: string | undefined, hasMore: boolean): Around;
}

/** Cursors of the pages around one. */
export interface Around {
  next: string | undefined;
  prev: string | undefined;
}

/** What a cursor holds beside the place. */
interface CursorContent {
  after: string;
  backwards?: true;
  filter: string;
  sort: string;
  size: number;
}

/** Every array is joined by commas; one that is sent in pieces is joined here. */
const arrayPattern = /^(?:include|(?:additional-)?fields\[[\w-]+\])$/;

/**
 * Reads the query of a request by the rules of its operation.
 * @param list names the list, to which cursors are bound.
 * @throws DaybookError with the parameter at fault.
 */
export function readQuery(request: FastifyRequest, rules: QueryRules, cursors: Cursors, list: string): Query {
  const given = readParameters(request, rules);
  const scope = [callerOf(request).propertyId, "compat", list];
  const cursor = given.get("page[cursor]");
  const content = cursor === undefined ? undefined : readCursor(cursors, scope, cursor);
  const chosen = (name: "filter" | "sort", fallback: string): string => {
    const asked = given.get(name);
    if (content && asked !== undefined && asked !== content[name]) throw otherQuery();
    return content?.[name] ?? asked ?? fallback;
  };
  const filter = chosen("filter", "");
  const sort = chosen("sort", rules.sortDefault ?? "");
  const size = readSize(given.get("page[size]"), rules, content?.size);
  const backwards = content?.backwards ?? false;
  const write = (place: Pick<CursorContent, "after" | "backwards">): string =>
    cursors.write(scope, JSON.stringify({ ...place, filter, sort, size } satisfies CursorContent));
  return {
    conditions: readConditions(filter, rules),
    sort: readSort(sort, rules, callerOf(request)),
    size,
    after: content?.after,
    backwards,
    includes: new Set(readNames(given.get("include"), rules.includes ?? [], "include", rules.includeAliases)),
    fields: new Map(
      [...given].flatMap(([name, value]) => {
        const [, type] = /^fields\[(.*)\]$/.exec(name) ?? [];
        return type === undefined ? [] : [[type, readFields(type, value)] as const];
      }),
    ),
    additional: new Set(
      readNames(given.get("additional-fields[profile]"), rules.additional ?? [], "additional-fields[profile]"),
    ),
    writeCursor: (after) => write({ after }),
    pagesAround(first, last, hasMore) {
      // Of a page that is read on from a place there is one before it, or was when the cursor was written.
      const hasNext = backwards || hasMore;
      const hasPrev = backwards ? hasMore : content !== undefined;
      return {
        next: hasNext && last !== undefined ? write({ after: last }) : undefined,
        prev: hasPrev && first !== undefined ? write({ after: first, backwards: true }) : undefined,
      };
    },
  };
}

function readParameters(request: FastifyRequest, rules: QueryRules): Map<string, string> {
  const known = new Set([
    ...(rules.filters ? ["filter"] : []),
    ...(rules.sorts ? ["sort"] : []),
    ...(rules.page ? ["page[cursor]"] : []),
    ...(rules.page && !rules.page.isFixed ? ["page[size]"] : []),
    ...(rules.includes ? ["include"] : []),
    ...(rules.additional ? ["additional-fields[profile]"] : []),
  ]);
  const given = new Map<string, string>();
  // As Fastify's parser gives it.
  for (const [name, value] of Object.entries(request.query as Record<string, string | string[]>)) {
    const isArray = arrayPattern.test(name);
    if (!known.has(name) && !/^fields\[[\w-]+\]$/.test(name)) {
      throw refuse("parameter_unknown", "There is no such parameter here.", name);
    }
    const values = [value].flat();
    // Who follows a link and says again what stands in it says it twice.
    if (new Set(values).size > 1 && !isArray) {
      throw refuse("parameter_invalid", "This parameter is sent more than once, with different values.", name);
    }
    const text = isArray ? values.join(",") : (values[0] ?? "");
    if (textProblem(text) !== undefined) throw refuse("parameter_invalid", "This value cannot be looked for.", name);
    if (text !== "" || name === "page[cursor]" || name === "page[size]") given.set(name, text);
  }
  return given;
}

function readFields(type: string, value: string): string[] {
  const name = `fields[${type}]`;
  if (!isKnownType(type)) throw refuse("parameter_unknown", `There are no resources of the type ${type}.`, name);
  const paths = value.split(",").flatMap((path) => path.trim() || []);
  const unknown = findUnknownField(type, paths);
  if (unknown === undefined) return paths;
  const choice = fieldsOfType(type).join(", ");
  throw refuse(
    "parameter_invalid",
    `'${unknown}' is not a field of the resource '${type}'. Its fields are: ${choice}.`,
    name,
  );
}

function readConditions(filter: string, { filters = {}, filterValues = {} }: QueryRules): Condition[] {
  if (filter === "") return [];
  let conditions: Condition[];
  try {
    conditions = parseFilter(filter);
  } catch (error) {
    if (error instanceof FilterError) throw refuse("unsupported_filter", error.message, "filter");
    throw error;
  }
  for (const { operator, field, values } of conditions) {
    const operators = Object.hasOwn(filters, field) ? filters[field] : undefined;
    if (!operators?.includes(operator)) {
      const choice = Object.entries(filters).map(([name, some]) => `${name}: ${some.join(", ")}`);
      const message = `${operator}(${field}) is not supported. Filters here are: ${choice.join("; ")}.`;
      throw refuse("unsupported_filter", message, "filter");
    }
    if (values.length !== 1 && operator !== "any" && operator !== "has") {
      throw refuse("unsupported_filter", `${operator}(${field},…) takes one value.`, "filter");
    }
    if (values.some((value) => textProblem(value) !== undefined)) {
      throw refuse("parameter_invalid", "This value cannot be looked for.", "filter");
    }
    const choice = filterValues[field];
    const unknown = choice && values.find((value) => !choice.includes(value));
    if (unknown !== undefined) {
      throw refuse("unsupported_filter", `${field} is one of ${choice?.join(", ")}.`, "filter");
    }
  }
  return conditions;
}

function readSort(sort: string, { sorts = [], sortScopes = {} }: QueryRules, caller: Caller): Query["sort"] {
  const field = sort.replace(/^-/, "");
  if (sort !== "" && !sorts.includes(field)) {
    throw refuse("unsupported_sort", `Lists here are in order of ${sorts.join(" or ")}, each also with "-".`, "sort");
  }
  const scope = sortScopes[field];
  if (scope !== undefined) requireScope(caller, scope);
  return { field, ascending: !sort.startsWith("-") };
}

function readSize(text: string | undefined, { page }: QueryRules, before: number | undefined): number {
  if (!page) return 1;
  if (text === undefined) return before ?? page.sizeDefault;
  if (!/^\d{1,9}$/.test(text) || Number(text) === 0 || Number(text) > page.sizeMax) {
    throw refuse("parameter_invalid", `A page has 1 to ${page.sizeMax} items.`, "page[size]");
  }
  return Number(text);
}

function readNames(
  text: string | undefined,
  known: readonly string[],
  name: string,
  aliases: Readonly<Record<string, string>> = {},
): string[] {
  const given = text?.split(",").map((one) => one.trim()) ?? [];
  const names = given.map((one) => (Object.hasOwn(aliases, one) ? (aliases[one] ?? one) : one));
  const unknown = names.find((one) => !known.includes(one));
  if (unknown !== undefined) {
    throw refuse("unsupported_expand", `${unknown} is none of what can be asked for: ${known.join(", ")}.`, name);
  }
  return names;
}

/** Some clients send the whole URL of the page, and some what is behind the name of the parameter, with the equals sign and all that follows. */
export function toCursor(text: string): string {
  const trimmed = text.replace(/^=/, "");
  if (!/^https?:\/\//i.test(trimmed)) return trimmed.replace(/&.*$/s, "");
  return URL.parse(trimmed)?.searchParams.get("page[cursor]") ?? trimmed;
}

function readCursor(cursors: Cursors, scope: readonly string[], text: string): CursorContent {
  let content: unknown;
  try {
    content = parseJson(cursors.read(scope, toCursor(text)));
  } catch (error) {
    if (error instanceof DaybookError) throw error.withParams(() => "page[cursor]");
    throw error;
  }
  // What it holds was written here.
  if (!isJsonObject(content)) throw otherQuery();
  return content as unknown as CursorContent;
}

function otherQuery(): DaybookError {
  return refuse("invalid_cursor", "This cursor is of a list with another filter or order.", "page[cursor]");
}

function refuse(code: ErrorCode, message: string, param: string): DaybookError {
  return new DaybookError(code, message, { param });
}
