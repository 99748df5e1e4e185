/** Describes the compatibility surface for the OpenAPI document, from its routes. */
import { exampleIds } from "../docs/example-ids.ts";
import { createSchemaWriter } from "../docs/schema-writer.ts";
import { idempotencyKeyParameter } from "../plugins/idempotency.ts";
import { exampleErrors, exampleOf } from "./answer-examples.ts";
import {
  commonHeaders,
  describePaths,
  parameter,
  retryHeaders,
  sortSchema,
  type Json,
  type RouteDescription,
  type SurfaceDescription,
} from "../surface/openapi.ts";
import { changes } from "../surface/routes.ts";
import type { CompatRoute } from "./operation.ts";
import type { QueryRules } from "./query.ts";
import { mediaType } from "./reply.ts";
import * as resources from "./resources.ts";
import { compatRoutes } from "./routes.ts";
import * as bodies from "./schemas.ts";

const tag = {
  name: "Compatibility",
  description:
    "The JSON:API of another platform, so that its clients can move here by changing the base address and the key. " +
    "The paths work with `/api` and without it, with and without a trailing slash. Any `revision` is accepted.",
};
const securitySchemes = {
  compatApiKey: {
    type: "apiKey",
    in: "header",
    name: "Authorization",
    description:
      "`Compat-API-Key <key or token>`, or a scheme that the operator allows with COMPAT_AUTH_SCHEMES: `Klaviyo-API-Key " +
      "<key or token>` unless set",
  },
};
const { toSchema, schemas } = createSchemaWriter([resources, bodies], "Compat");

/** @param prefix only paths under it are described. */
export function describeCompat(prefix: string): SurfaceDescription {
  return { tags: [tag], paths: describePaths(prefix, compatRoutes, describeRoute), schemas, securitySchemes };
}

function describeRoute(route: CompatRoute): RouteDescription {
  const { url, operation } = route;
  const { query = {}, body, example, data, list, mayBeNull } = operation;
  const one = mayBeNull ? { anyOf: [toSchema(data), { type: "null" }] } : toSchema(data);
  const schema = {
    type: "object",
    properties: {
      data: list ? { type: "array", items: toSchema(data) } : one,
      ...(query.includes ? { included: { type: "array", items: {} } } : {}),
      links: toSchema(resources.Links),
    },
    required: ["data"],
    additionalProperties: false,
  };
  const shown = operation.hasNoAnswer ? {} : exampleOf(data);
  const examples = { answer: { summary: "Answer", value: { data: list ? [shown] : shown } } };
  const content = body && {
    schema: toSchema(body.schema),
    ...(example ? { examples: { example: { summary: "Example", value: example } } } : {}),
  };
  return {
    tag: tag.name,
    security: [{ bearer: [] }, ...Object.keys(securitySchemes).map((name) => ({ [name]: [] }))],
    parameters: [
      ...pathParameters(url),
      ...queryParameters(query),
      parameter("header", "revision", "Any revision is accepted and echoed"),
      ...(changes(route) ? [idempotencyKeyParameter] : []),
    ],
    body: content && { [mediaType]: content, "application/json": content },
    answer: operation.hasNoAnswer ? {} : { [mediaType]: { schema, examples } },
    headers: () => commonHeaders("CompatRateLimit"),
    refusals: describeRefusals(route),
  };
}

/** Example ids by collection. */
const pathIds: Readonly<Record<string, string>> = {
  accounts: exampleIds.property,
  events: exampleIds.event,
  metrics: exampleIds.metric,
  profiles: exampleIds.profile,
  "profile-bulk-import-jobs": exampleIds.job,
};

function pathParameters(url: string): Json[] {
  return [...url.matchAll(/([\w-]+)\/:(\w+)/g)].map(([, collection = "", name]) => ({
    name,
    in: "path",
    required: true,
    description: "Its id",
    example: pathIds[collection],
    schema: { type: "string" },
  }));
}

function queryParameters({
  filters,
  sorts,
  sortDefault,
  sortScopes = {},
  page,
  includes,
  fields,
  additional,
}: QueryRules): Json[] {
  const inQuery = (name: string, description: string, schema?: Json) => parameter("query", name, description, schema);
  const scopesOfSorts = Object.entries(sortScopes).map(([field, scope]) => `${field} needs the scope \`${scope}\``);
  const conditions = Object.entries(filters ?? {}).map(([field, some]) => `${field}: ${some.join(", ")}`);
  return [
    ...(filters
      ? [inQuery("filter", `\`operator(field,value)\`, joined by commas: all are fulfilled. ${conditions.join("; ")}`)]
      : []),
    ...(sorts ? [inQuery("sort", ["The order", ...scopesOfSorts].join(". "), sortSchema(sorts, sortDefault))] : []),
    ...(page && !page.isFixed
      ? [
          inQuery("page[size]", "Items on a page, which ends early, at about 16 MB, when they are large", {
            type: "integer",
            minimum: 1,
            maximum: page.sizeMax,
            default: page.sizeDefault,
          }),
        ]
      : []),
    ...(page ? [inQuery("page[cursor]", "From `links.next` of the page before; it keeps filter, order and size")] : []),
    ...(includes ? [inQuery("include", `Joined by commas: ${includes.join(", ")}`)] : []),
    ...(additional
      ? [inQuery("additional-fields[profile]", `Nothing is known of them here: ${additional.join(", ")}`)]
      : []),
    ...(fields ?? []).map((type) => inQuery(`fields[${type}]`, "Names of attributes, joined by commas")),
  ];
}

const duplicateText = "Somebody has the identifier: `duplicate_profile`";
const refusalTexts: Readonly<Record<string, string>> = {
  400: "What was sent is not valid: `invalid`",
  401: "The key or access token is missing or not valid: `not_authenticated`",
  403: "The key or access token lacks the scope: `permission_denied`",
  404: "There is no such thing: `not_found`",
  409:
    "The Idempotency-Key is of another request, or that is still being done: `idempotency_key_reused`, " +
    "`idempotency_key_in_use`",
  413: "The body is larger than 5 MB: `request_too_large`",
  415: "The body is no JSON: `unsupported_media_type`",
  429: "Too many requests: `throttled`",
  500: "It is not the caller's fault: `error`",
  503: "For the moment: `service_unavailable`",
};

function describeRefusals(route: CompatRoute): Json {
  const { method, url, operation } = route;
  const { body } = operation;
  const isProfile = url.includes("/profile") || url.endsWith("/events");
  const statuses = [400, 401, 403, 404, ...(changes(route) ? [409] : []), ...(body ? [413, 415] : []), 429, 500, 503];
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: status === 409 && isProfile ? `${duplicateText}; ${refusalTexts[status]}` : refusalTexts[status],
        headers: {
          ...commonHeaders("CompatRateLimit"),
          ...retryHeaders(status, status === 409),
        },
        content: {
          [mediaType]: {
            schema: toSchema(resources.Errors),
            examples: { error: { summary: String(status), value: exampleErrors(status, method) } },
          },
        },
      },
    ]),
  );
}
