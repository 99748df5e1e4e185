/** What the OpenAPI document says of the compatibility surface, made of what its routes say of themselves. */
import type { FastifyInstance } from "fastify";
import { exampleIds } from "../docs/example-ids.ts";
import { createSchemaWriter } from "../docs/schema-writer.ts";
import { idempotencyKeyParameter } from "../plugins/idempotency.ts";
import { exampleErrors, exampleOf } from "./answer-examples.ts";
import type { CompatOperation } from "./operation.ts";
import type { QueryRules } from "./query.ts";
import { mediaType } from "./reply.ts";
import * as resources from "./resources.ts";
import * as bodies from "./schemas.ts";

type Json = Record<string, unknown>;

/** Parts of the document. */
export interface CompatDescription {
  tag: { name: string; description: string };
  paths: Readonly<Record<string, Json>>;
  schemas: Readonly<Record<string, unknown>>;
  securitySchemes: Readonly<Record<string, unknown>>;
}

interface DocumentedRoute {
  method: string;
  url: string;
  scope: string;
  operation: CompatOperation;
}

const tag = {
  name: "Compatibility",
  description:
    "The JSON:API of another platform, so that its clients can move here by changing the base address and the key. The paths work with `/api` and " +
    "without it, with and without a trailing slash. Any `revision` is accepted.",
};
const securitySchemes = {
  compatApiKey: {
    type: "apiKey",
    in: "header",
    name: "Authorization",
    description:
      "`Compat-API-Key <key>`, or a scheme that the operator allows with COMPAT_AUTH_SCHEMES: `Klaviyo-API-Key <key>` unless set",
  },
};
const { toSchema, schemas } = createSchemaWriter([resources, bodies], "Compat");

/** Notes the operations that a scope registers from here on. */
export function collectCompatOperations(app: FastifyInstance): readonly DocumentedRoute[] {
  const routes: DocumentedRoute[] = [];
  app.addHook("onRoute", ({ method, url, config }) => {
    const { scope, compat: operation } = config ?? {};
    if (typeof method === "string" && method !== "HEAD" && operation && typeof scope === "string") {
      routes.push({ method, url, scope, operation });
    }
  });
  return routes;
}

/** Describes the operations. */
export function describeCompat(routes: readonly DocumentedRoute[]): CompatDescription {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.url.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeOperation(route) };
  }
  return { tag, paths, schemas, securitySchemes };
}

const header = (name: string): Json => ({ $ref: `#/components/headers/${name}` });
const commonHeaders = {
  "X-Request-Id": header("RequestId"),
  "Service-Version": header("Revision"),
  "RateLimit-Limit": header("CompatRateLimit"),
  "RateLimit-Remaining": header("RateRemaining"),
  "RateLimit-Reset": header("RateReset"),
};

function describeOperation({ method, url, scope, operation }: DocumentedRoute): Json {
  const { id, summary, description, query = {}, body, example, data, list, mayBeNull, success } = operation;
  const answer = {
    type: "object",
    properties: {
      data: list
        ? { type: "array", items: toSchema(data) }
        : mayBeNull
          ? { anyOf: [toSchema(data), { type: "null" }] }
          : toSchema(data),
      ...(query.includes ? { included: { type: "array", items: {} } } : {}),
      links: toSchema(resources.Links),
    },
    required: ["data"],
    additionalProperties: false,
  };
  const isWrite = method !== "GET" && !operation.reads;
  const shown = exampleOf(data);
  const examples = { answer: { summary: "Answer", value: { data: list ? [shown] : shown } } };
  const answers = Object.entries(success).map(([status, text]): [string, Json] => [
    status,
    {
      description: text,
      headers: { ...commonHeaders, ...(isWrite ? { "Idempotency-Replayed": header("Replayed") } : {}) },
      content: { [mediaType]: { schema: answer, examples } },
    },
  ]);
  const content = {
    schema: toSchema(body),
    ...(example ? { examples: { example: { summary: "Example", value: example } } } : {}),
  };
  return {
    operationId: id,
    tags: [tag.name],
    security: [{ bearer: [] }, ...Object.keys(securitySchemes).map((name) => ({ [name]: [] }))],
    summary,
    description: [description, `Scope: \`${scope}\`.`].filter(Boolean).join("\n\n"),
    parameters: [
      ...pathParameters(url),
      ...queryParameters(query),
      revisionParameter,
      ...(isWrite ? [idempotencyKeyParameter] : []),
    ],
    ...(body
      ? { requestBody: { required: true, content: { [mediaType]: content, "application/json": content } } }
      : {}),
    responses: { ...Object.fromEntries(answers), ...refusals(method, url, operation) },
  };
}

const revisionParameter = {
  name: "revision",
  in: "header",
  description: "Any revision is accepted and echoed",
  schema: { type: "string" },
};

/** What stands in paths, by the collection that it is of. */
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
  const parameter = (name: string, description: string, schema: Json = { type: "string" }): Json => ({
    name,
    in: "query",
    description,
    schema,
  });
  const scopesOfSorts = Object.entries(sortScopes).map(([field, scope]) => `${field} needs the scope \`${scope}\``);
  const conditions = Object.entries(filters ?? {}).map(([field, some]) => `${field}: ${some.join(", ")}`);
  return [
    ...(filters
      ? [
          parameter(
            "filter",
            `\`operator(field,value)\`, joined by commas: all are fulfilled. ${conditions.join("; ")}`,
          ),
        ]
      : []),
    ...(sorts
      ? [
          parameter("sort", ["The order", ...scopesOfSorts].join(". "), {
            type: "string",
            enum: sorts.flatMap((field) => [field, `-${field}`]),
            default: sortDefault,
          }),
        ]
      : []),
    ...(page && !page.isFixed
      ? [
          parameter("page[size]", "Items on a page, which ends early, at about 16 MB, when they are large", {
            type: "integer",
            minimum: 1,
            maximum: page.sizeMax,
            default: page.sizeDefault,
          }),
        ]
      : []),
    ...(page
      ? [parameter("page[cursor]", "From `links.next` of the page before; it keeps filter, order and size")]
      : []),
    ...(includes ? [parameter("include", `Joined by commas: ${includes.join(", ")}`)] : []),
    ...(additional
      ? [parameter("additional-fields[profile]", `Nothing is known of them here: ${additional.join(", ")}`)]
      : []),
    ...(fields ?? []).map((type) => parameter(`fields[${type}]`, "Names of attributes, joined by commas")),
  ];
}

const duplicateText = "Somebody has the identifier: `duplicate_profile`";
const refusalTexts: Readonly<Record<string, string>> = {
  400: "What was sent is not valid: `invalid`",
  401: "The key is missing or not valid: `not_authenticated`",
  403: "The key lacks the scope: `permission_denied`",
  404: "There is no such thing: `not_found`",
  409: "The Idempotency-Key is of another request, or that is still being done: `idempotency_key_reused`, `idempotency_key_in_use`",
  413: "The body is larger than 5 MB: `request_too_large`",
  415: "The body is no JSON: `unsupported_media_type`",
  429: "Too many requests: `throttled`",
  500: "It is not the caller's fault: `error`",
  503: "For the moment: `service_unavailable`",
};

function refusals(method: string, url: string, { body, reads }: CompatOperation): Json {
  const isWrite = method !== "GET" && !reads;
  const isProfile = url.includes("/profile") || url.endsWith("/events");
  const statuses = [400, 401, 403, 404, ...(isWrite ? [409] : []), ...(body ? [413, 415] : []), 429, 500, 503];
  const retry = { "Retry-After": header("RetryAfter") };
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: status === 409 && isProfile ? `${duplicateText}; ${refusalTexts[status]}` : refusalTexts[status],
        headers: {
          ...commonHeaders,
          ...(status === 429 || status === 503 ? retry : {}),
          ...(status === 409 ? { "Retry-After": header("RetryAfterIfInUse") } : {}),
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
