/** Parameters of operations, as the OpenAPI document has them. */
import type { IdPrefix } from "#shared/values/ids.ts";
import { newestRevision } from "#shared/values/revisions.ts";
import { idempotencyKeyParameter } from "../plugins/idempotency.ts";
import { exampleIds } from "./examples.ts";
import type { Operation } from "./operation.ts";
import { pageLimit, rangeOperators, type QueryRules } from "./query.ts";
import { idPattern } from "./rules.ts";

type Json = Record<string, unknown>;

/** What stands in paths, by the collection that it is of. */
const pathIds: Readonly<Record<string, { prefix: IdPrefix; description: string; example: string }>> = {
  events: { prefix: "evt", description: "The id of an event", example: exampleIds.event },
  profiles: { prefix: "prof", description: "The id of a profile", example: exampleIds.profile },
  identifiers: {
    prefix: "idnt",
    description: "The id of an identifier of the profile",
    example: exampleIds.identifier,
  },
  metrics: { prefix: "mtr", description: "The id of a metric", example: exampleIds.metric },
};

/** Those of a path. @param url as Fastify has it. */
export function pathParameters(url: string): Json[] {
  return [...url.matchAll(/(\w+)\/:(\w+)/g)].map(([, collection = "", name]) => {
    const { prefix, ...described } = pathIds[collection] ?? {};
    const pattern = prefix === undefined ? {} : { pattern: idPattern(prefix) };
    return { name, in: "path", required: true, ...described, schema: { type: "string", ...pattern } };
  });
}

/** Those that the rules of a query allow. @param examples by name. */
export function queryParameters(rules: QueryRules = {}, examples: Readonly<Record<string, string>> = {}): Json[] {
  const parameter = (name: string, description: string, schema: Json = { type: "string" }): Json => ({
    name,
    in: "query",
    description,
    ...(examples[name] === undefined ? {} : { example: toExample(examples[name], schema) }),
    schema,
  });
  const boundOf = { gte: "from then on", gt: "after then", lte: "up to then", lt: "before then" };
  const expandable = Object.entries(rules.expands ?? {});
  return [
    ...Object.entries(rules.filters ?? {}).map(([name, filter]) =>
      typeof filter === "string"
        ? parameter(`filter[${name}]`, filter)
        : parameter(`filter[${name}]`, filter.description, {
            type: "string",
            ...("oneOf" in filter ? { enum: filter.oneOf } : {}),
            ...("pattern" in filter ? { pattern: filter.pattern } : {}),
          }),
    ),
    ...Object.entries(rules.ranges ?? {}).flatMap(([name, text]) =>
      rangeOperators.map((operator) =>
        parameter(`filter[${name}][${operator}]`, `${text}: ${boundOf[operator]}`, {
          type: "string",
          format: "date-time",
        }),
      ),
    ),
    ...(rules.sorts
      ? [
          parameter("sort", "The order; ids decide between equals", {
            type: "string",
            enum: rules.sorts.flatMap((field) => [field, `-${field}`]),
            default: rules.sortDefault,
          }),
        ]
      : []),
    ...(expandable.length > 0
      ? [
          {
            ...parameter(
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
          parameter(
            "page[limit]",
            `Items on a page; more than ${pageLimit.max} grants ${pageLimit.max}. A page ends early, at about 16 MB, when they are large`,
            {
              type: "integer",
              minimum: 1,
              default: pageLimit.default,
            },
          ),
          parameter(
            "page[after]",
            "meta.page.next_cursor of the page before; good for 7 days and for the same query only",
          ),
        ]
      : []),
    ...(rules.resolves
      ? [
          parameter("resolve", "false reads a merged profile itself, not its survivor", {
            type: "boolean",
            default: true,
          }),
        ]
      : []),
  ];
}

/** A value of a query as the type of its schema. */
function toExample(text: string, { type }: Json): unknown {
  if (type === "array") return text.split(",");
  return type === "string" ? text : JSON.parse(text);
}

/** Headers that an operation looks at. */
export function headerParameters({ precondition }: Operation, isWrite: boolean): Json[] {
  const parameter = (name: string, description: string, schema: Json): Json => ({
    name,
    in: "header",
    description,
    schema,
  });
  return [
    parameter(
      "Service-Version",
      `A date: answer in the newest revision not after it, of ${newestRevision} and before`,
      {
        type: "string",
        format: "date",
      },
    ),
    ...(isWrite ? [idempotencyKeyParameter] : []),
    ...(precondition
      ? [parameter("If-Match", "The ETag of a prior read; without it the last write wins", { type: "string" })]
      : []),
  ];
}
