/** Parameters of operations in the OpenAPI document. */
import { newestRevision } from "#shared/values/revisions.ts";
import { idempotencyKeyParameter } from "../plugins/idempotency.ts";
import { parameter, sortSchema, type Json } from "../surface/openapi.ts";
import type { NativeOperation } from "./operation.ts";
import { describeIds } from "./paths.ts";
import { pageLimit, rangeOperators, type QueryRules } from "./query.ts";
import { idPattern } from "./rules.ts";

/** @param url as Fastify has it. @param example of the id, where it is not that of its collection. */
export function pathParameters(url: string, example?: string): Json[] {
  return describeIds(url).map(({ name, prefix, ...described }) => ({
    name,
    in: "path",
    required: true,
    ...described,
    ...(example === undefined ? {} : { example }),
    schema: { type: "string", pattern: idPattern(prefix) },
  }));
}

/** Query parameters that rules allow. @param examples by name. */
export function queryParameters(rules: QueryRules = {}, examples: Readonly<Record<string, string>> = {}): Json[] {
  const inQuery = (name: string, description: string, schema: Json = { type: "string" }): Json => ({
    ...parameter("query", name, description, schema),
    ...(examples[name] === undefined ? {} : { example: toExample(examples[name], schema) }),
  });
  const boundOf = { gte: "from then on", gt: "after then", lte: "up to then", lt: "before then" };
  const expandable = Object.entries(rules.expands ?? {});
  return [
    ...Object.entries(rules.filters ?? {}).map(([name, filter]) =>
      typeof filter === "string"
        ? inQuery(`filter[${name}]`, filter)
        : inQuery(`filter[${name}]`, filter.description, {
            type: "string",
            ...("oneOf" in filter ? { enum: filter.oneOf } : {}),
            ...("pattern" in filter ? { pattern: filter.pattern } : {}),
          }),
    ),
    ...Object.entries(rules.ranges ?? {}).flatMap(([name, text]) =>
      rangeOperators.map((operator) =>
        inQuery(`filter[${name}][${operator}]`, `${text}: ${boundOf[operator]}`, {
          type: "string",
          format: "date-time",
        }),
      ),
    ),
    ...(rules.sorts
      ? [inQuery("sort", "The order; ids decide between equals", sortSchema(rules.sorts, rules.sortDefault))]
      : []),
    ...(expandable.length > 0
      ? [
          {
            ...inQuery(
              "expand",
              `What to show in full, joined by commas. ${expandable.map((entry) => entry.join(": ")).join(". ")}`,
              { type: "array", items: { type: "string", enum: expandable.map(([name]) => name) } },
            ),
            style: "form",
            explode: false,
          },
        ]
      : []),
    ...(rules.paged
      ? [
          inQuery(
            "page[limit]",
            `Items on a page; more than ${pageLimit.max} grants ${pageLimit.max}. A page ends early, at about 16 MB, ` +
              "when they are large",
            {
              type: "integer",
              minimum: 1,
              default: pageLimit.default,
            },
          ),
          inQuery(
            "page[after]",
            "meta.page.next_cursor of the page before; good for 7 days and for the same query only",
          ),
        ]
      : []),
    ...(rules.resolves
      ? [
          inQuery("resolve", "false reads a merged profile itself, not its survivor", {
            type: "boolean",
            default: true,
          }),
        ]
      : []),
  ];
}

/** Converts a query value to the type of its schema. */
function toExample(text: string, { type }: Json): unknown {
  if (type === "array") return text.split(",");
  return type === "string" ? text : JSON.parse(text);
}

export function headerParameters({ precondition }: NativeOperation, isWrite: boolean): Json[] {
  const revision = `A date: answer in the newest revision not after it, of ${newestRevision} and before`;
  const etag = "The ETag of a prior read; without it the last write wins";
  return [
    parameter("header", "Service-Version", revision, { type: "string", format: "date" }),
    ...(isWrite ? [idempotencyKeyParameter] : []),
    ...(precondition ? [parameter("header", "If-Match", etag)] : []),
  ];
}
