/** Query parameters: everything that a route does not know is refused by name. */
import { DaybookError, type ErrorCode } from "#shared/errors.ts";
import { textProblem } from "#shared/json.ts";

/** What a route takes. */
export interface QueryRules {
  /** Names for `filter[name]`. */
  filters?: readonly string[];
  /** Names for `expand`. */
  expands?: readonly string[];
  /** Whether it takes `page[limit]` and `page[after]`. */
  paged?: boolean;
}

/** What a request asks for. */
export interface Query {
  filters: ReadonlyMap<string, string>;
  expands: ReadonlySet<string>;
  /** Granted page size. */
  limit: number;
  /** The cursor, as sent. */
  after: string | undefined;
}

const limitDefault = 50;
const limitMax = 500;

/**
 * Reads the query of a request, as Fastify's parser gives it.
 * @throws DaybookError `parameter_unknown`, `unsupported_filter`, `unsupported_sort`, `unsupported_expand` or `parameter_invalid`.
 */
export function readQuery(query: unknown, rules: QueryRules): Query {
  const filters = new Map<string, string>();
  let expands: string[] = [];
  let limit = limitDefault;
  let after: string | undefined;
  for (const [name, value] of Object.entries(query as Record<string, string | string[]>)) {
    if (typeof value !== "string") throw refuse("parameter_invalid", "This parameter is sent more than once.", name);
    if (textProblem(value) !== undefined) throw refuse("parameter_invalid", "This value cannot be looked for.", name);
    const filter = /^filter\[([^\]]*)\](.*)$/.exec(name);
    if (filter && rules.filters) {
      const [, field = "", rest] = filter;
      if (!rules.filters.includes(field) || rest !== "") {
        throw refuse("unsupported_filter", `Filters here are: ${rules.filters.join(", ")}.`, name);
      }
      filters.set(field, value);
    } else if (name === "sort" && rules.paged) {
      throw refuse("unsupported_sort", "This list cannot be sorted otherwise.", name);
    } else if (name === "expand") {
      const known = rules.expands ?? [];
      expands = value.split(",");
      const unknown = expands.find((expand) => !known.includes(expand));
      if (unknown !== undefined) {
        const choice = known.length > 0 ? `What can be expanded here: ${known.join(", ")}.` : "Nothing expands here.";
        throw refuse("unsupported_expand", choice, name);
      }
    } else if (name === "page[limit]" && rules.paged) {
      if (!/^[0-9]{1,9}$/.test(value) || Number(value) === 0) {
        throw refuse("parameter_invalid", `A page has 1 to ${limitMax} items.`, name);
      }
      limit = Math.min(limitMax, Number(value));
    } else if (name === "page[after]" && rules.paged) {
      after = value;
    } else {
      throw refuse("parameter_unknown", "There is no such parameter here.", name);
    }
  }
  return { filters, expands: new Set(expands), limit, after };
}

function refuse(code: ErrorCode, message: string, param: string): DaybookError {
  return new DaybookError(code, message, { param });
}
