/** Reads query parameters by the rules of an operation. A cursor carries filter, sort and size to later pages. */
import type { FastifyRequest } from "fastify";
import { DaybookError, type ErrorCode } from "#shared/values/errors.ts";
import { isJsonObject, parseJson, textProblem } from "#shared/json/json.ts";
import type { Cursors } from "../cursor.ts";
import type { Caller } from "../callers.ts";
import { requireScope } from "../plugins/authentication.ts";
import { callerOf } from "../plugins/request.ts";
import { fieldsOfType, findUnknownField, isKnownType } from "./known-fields.ts";
import { FilterError, parseFilter, type Condition } from "./filter.ts";

/** Accepted query parameters. They are also documented from this. */
export interface QueryRules {
  /** Operators by filter field. */
  filters?: Readonly<Record<string, readonly string[]>>;
  /** All values of filter fields that have few. */
  filterValues?: Readonly<Record<string, readonly string[]>>;
  /** Fields for `sort`, each also with a leading `-`. */
  sorts?: readonly string[];
  /** As it would be sent, such as `-created`. */
  sortDefault?: string;
  /** Scopes that a sort needs beside that of the operation, because the order reveals the field. */
  sortScopes?: Readonly<Record<string, string>>;
  /** Page sizes. Lists without `page` have one page; fixed pages accept only a cursor. */
  page?: { sizeDefault: number; sizeMax: number; isFixed?: true };
  /** Names for `include`, also of resources that Daybook does not have. */
  includes?: readonly string[];
  /** Names for `include` of older revisions. */
  includeAliases?: Readonly<Record<string, string>>;
  /** Types for `fields[type]`. */
  fields?: readonly string[];
  /** Names for `additional-fields[profile]`. */
  additional?: readonly string[];
}

/** A validated query. */
export interface Query {
  conditions: readonly Condition[];
  sort: { field: string; ascending: boolean };
  /** Items per page. */
  size: number;
  /** The place, written by another page, after which this page begins, or before which it ends if `backwards`. */
  after: string | undefined;
  /** The page is read in reverse order and must be reversed. */
  backwards: boolean;
  includes: ReadonlySet<string>;
  /** Requested paths by type. */
  fields: ReadonlyMap<string, readonly string[]>;
  additional: ReadonlySet<string>;
  /** The cursor of the page after a place. */
  writeCursor(after: string): string;
  /**
   * The cursors of the neighbours, for lists that can be read backwards.
   * @param first place of the first item, `last` of the last; undefined for an empty page.
   * @param hasMore whether more items follow in the direction of reading.
   */
  pagesAround(first: string | undefined, last: string | undefined, hasMore: boolean): Around;
}

/** Cursors of the neighbours of a page. */
export interface Around {
  next: string | undefined;
  prev: string | undefined;
}

/** The content of a cursor. */
interface CursorContent {
  after: string;
  backwards?: true;
  filter: string;
  sort: string;
  size: number;
}

/** Parameters that are comma-separated lists. Repeated ones are joined. */
const arrayPattern = /^(?:include|(?:additional-)?fields\[[\w-]+\])$/;

/**
 * Reads the query of a request.
 * @param list identifies the list; cursors are bound to it.
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
      // A page read from a cursor has a previous page, or had one when the cursor was written.
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
  // Shape of Fastify's parser.
  for (const [name, value] of Object.entries(request.query as Record<string, string | string[]>)) {
    const isArray = arrayPattern.test(name);
    if (!known.has(name) && !/^fields\[[\w-]+\]$/.test(name)) {
      throw refuse("parameter_unknown", "There is no such parameter here.", name);
    }
    const values = [value].flat();
    // Clients that follow a link and add its parameters send them twice.
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

/** Accepts the whole URL of the page, and `=` with the rest of the URL, because some clients send these. */
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
  // Cursors are encrypted, so the content was written here.
  if (!isJsonObject(content)) throw otherQuery();
  return content as unknown as CursorContent;
}

function otherQuery(): DaybookError {
  return refuse("invalid_cursor", "This cursor is of a list with another filter or order.", "page[cursor]");
}

function refuse(code: ErrorCode, message: string, param: string): DaybookError {
  return new DaybookError(code, message, { param });
}
