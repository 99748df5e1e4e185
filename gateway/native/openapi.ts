/** The OpenAPI document of the native surface, made of what the routes say of themselves and of the schemas that validate them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { errorCatalogue, type ErrorCode } from "#shared/values/errors.ts";
import { newestRevision, revisions } from "#shared/values/revisions.ts";
import { createSchemaWriter } from "../docs/schema-writer.ts";
import { errorExamples, errorExamplesOf } from "./error-examples.ts";
import { exampleIds } from "./examples.ts";
import { headerParameters, pathParameters, queryParameters } from "./openapi-parameters.ts";
import type { Operation } from "./operation.ts";
import { pageLimit } from "./query.ts";
import * as resources from "./resources.ts";
import * as metricBodies from "./metric-schemas.ts";
import * as bodies from "./schemas.ts";

type Json = Record<string, unknown>;

/** A route and what it says of itself. */
export interface DocumentedRoute {
  method: string;
  /** As Fastify has it, such as `/v1/profiles/:id`. */
  url: string;
  /** What a key needs for it; null if any key will do. */
  scope: string | null;
  operation: Operation;
}

/** Notes the operations that a scope registers from here on. */
export function collectOperations(app: FastifyInstance): readonly DocumentedRoute[] {
  const routes: DocumentedRoute[] = [];
  app.addHook("onRoute", ({ method, url, config }) => {
    const { scope, operation } = config ?? {};
    if (typeof method === "string" && method !== "HEAD" && operation && scope !== undefined) {
      routes.push({ method, url, scope, operation });
    }
  });
  return routes;
}

const packageFile = join(import.meta.dirname, "../../package.json");

/** Makes the document. */
export function createDocument(routes: readonly DocumentedRoute[]): object {
  const { version } = JSON.parse(readFileSync(packageFile, "utf8")) as { version: string };
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.url.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeOperation(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Daybook",
      version,
      description:
        "Records what customers do and who they are. Ids are prefixed, parsed in either case, and sort by creation. Times are UTC with microseconds.\n\n" +
        `Revisions: ${revisions.join(", ")}; under ${revisions[0]} errors have the form \`{error: {code, message, field, request_id}}\`.\n\n` +
        "Rate limits are of each key, in fixed windows of a minute: one for ordinary requests, and one for batches with backfill, whose answers have " +
        "the headers of that window. A 429 can be repeated after Retry-After.\n\n" +
        "Bodies are JSON of at most 2 MB, and may come with Content-Encoding gzip or deflate; the limit is that of the inflated body. A client's own X-Request-Id is not taken.\n\n" +
        "Under `/api`, and without it, is the compatibility surface: JSON:API as another platform has it, with bodies of at most 5 MB and errors in its own form.\n\n" +
        "What cannot be read as a request is refused in the same form: with 400, with 408 when it does not arrive within 30 seconds, or with 431 " +
        "when it has more than 100 headers or 16 KB of them.",
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }],
    tags: [...new Set(routes.map(({ operation }) => operation.tag))].map((name) => ({
      name,
      description: tagDescriptions[name],
    })),
    paths,
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer", description: "A secret key of the property" } },
      schemas,
      examples: errorExamples,
      headers,
    },
  };
}

const tagDescriptions: Readonly<Record<Operation["tag"], string>> = {
  Events: "What customers did: typed, timestamped occurrences, each attached to a profile or waiting for one.",
  Profiles: "Who customers are: identifiers, attributes, tags and a location.",
  Identifiers: "What a profile is known by: emails, phones, ids of other systems.",
  Metrics: "One for each event type: its observed schema, and aggregates over time.",
  Schemas: "The observed fields of event properties and profile attributes.",
  Account: "The property and the key that call, and the revisions of the API.",
};

// Schemas that have a name of their own: the exported ones.
const { toSchema, schemas } = createSchemaWriter([resources, bodies, metricBodies]);

const headers: Json = {
  RequestId: { description: "The same as meta.request_id", schema: { type: "string" } },
  Revision: { description: "The revision that the answer is in", schema: { type: "string", format: "date" } },
  RateLimit: { description: "Requests permitted in the current window", schema: { type: "integer" } },
  CompatRateLimit: {
    description: "Requests permitted in the current window, and again with its seconds: `75, 75;w=60`",
    schema: { type: "string" },
  },
  RateRemaining: { description: "Requests left in it", schema: { type: "integer" } },
  RateReset: { description: "Seconds until it ends", schema: { type: "integer" } },
  RetryAfter: { description: "Seconds to wait before trying again", schema: { type: "integer" } },
  RetryAfterIfInUse: {
    description: "Seconds to wait before trying again, with `idempotency_key_in_use`",
    required: false,
    schema: { type: "integer" },
  },
  ETag: { description: "The version of the profile, for If-Match", schema: { type: "string" } },
  Location: { description: "Where the new resource is", schema: { type: "string" } },
  NotReplayed: {
    description: "false: an error that did nothing is never the answer to an earlier request",
    // A path that cannot be read is refused before its route is known.
    required: false,
    schema: { type: "boolean" },
  },
  Replayed: {
    description: "Whether this is the answer to an earlier request; nothing was done again",
    schema: { type: "boolean" },
  },
};

const header = (name: string): Json => ({ $ref: `#/components/headers/${name}` });

const commonHeaders = {
  "X-Request-Id": header("RequestId"),
  "Service-Version": header("Revision"),
  "RateLimit-Limit": header("RateLimit"),
  "RateLimit-Remaining": header("RateRemaining"),
  "RateLimit-Reset": header("RateReset"),
};

function describeOperation(route: DocumentedRoute): Json {
  const { url, scope, operation } = route;
  const { id, tag, summary, description, body, success, examples } = operation;
  const isWrite = changes(route);
  const data = operation.list ? { type: "array", items: toSchema(operation.data) } : toSchema(operation.data);
  const content = toContent(
    {
      type: "object",
      properties: { data, meta: toSchema(resources.Meta) },
      required: ["data", "meta"],
      additionalProperties: false,
    },
    { Answer: { data: examples.data, meta: exampleMeta(operation) } },
  );
  const answers = Object.entries(success).map(([status, text]): [string, Json] => [
    status,
    {
      description: text,
      headers: {
        ...commonHeaders,
        ...(operation.etag ? { ETag: header("ETag") } : {}),
        ...(isWrite ? { "Idempotency-Replayed": header("Replayed") } : {}),
        ...(status === "201" ? { Location: header("Location") } : {}),
      },
      content,
    },
  ]);
  const forms = body?.map((schema) => toSchema(schema));
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, scope === null ? "For every key." : `Scope: \`${scope}\`.`].filter(Boolean).join("\n\n"),
    parameters: [
      ...pathParameters(url),
      ...queryParameters(operation.query, examples.query),
      ...headerParameters(operation, isWrite),
    ],
    ...(forms
      ? {
          requestBody: {
            required: true,
            content: toContent(forms.length > 1 ? { anyOf: forms } : forms[0], examples.bodies),
          },
        }
      : {}),
    responses: { ...Object.fromEntries(answers), ...refusals(route) },
  };
}

/** Whether it is done once with an Idempotency-Key. */
function changes({ method, operation }: DocumentedRoute): boolean {
  return method !== "GET" && !operation.reads;
}

/** @param examples by what they show, in words. */
function toContent(schema: unknown, examples: Readonly<Record<string, object>> = {}): Json {
  const named = Object.entries(examples).map(([summary, value]) => [toName(summary), { summary, value }]);
  return { "application/json": { schema, ...(named.length > 0 ? { examples: Object.fromEntries(named) } : {}) } };
}

/** Words as the name of an example. */
function toName(words: string): string {
  return words.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}

function exampleMeta({ list, query, reads }: Operation): Json {
  return {
    request_id: exampleIds.request,
    revision: newestRevision,
    livemode: true,
    ...(reads ? { as_of: "2026-11-02T16:05:01.000000Z" } : {}),
    ...(list && query?.paged ? { page: { limit: pageLimit.default, has_more: false, next_cursor: null } } : {}),
  };
}

const everyOperation: readonly ErrorCode[] = [
  "bad_request",
  "parameter_invalid",
  "parameter_unknown",
  "unsupported_expand",
  "invalid_revision",
  "invalid_api_key",
  "rate_limited",
  "internal_error",
  "service_unavailable",
];
// A deletion has no body, but what is sent with one is read.
const everyBody: readonly ErrorCode[] = ["invalid_json", "request_too_large", "unsupported_media_type"];

/** Refusals by status, each with the codes that there may be. */
function refusals(route: DocumentedRoute): Json {
  const { method, scope, operation } = route;
  const { body, query, precondition, errors = [], impossible = [] } = operation;
  const codes = new Set<ErrorCode>([
    ...everyOperation,
    ...(scope === null ? [] : (["missing_scope"] as const)),
    ...(body ? (["parameter_missing"] as const) : []),
    ...(method === "GET" ? [] : everyBody),
    ...(changes(route) ? (["idempotency_key_in_use", "idempotency_key_reused"] as const) : []),
    ...(query?.filters || query?.ranges ? (["unsupported_filter"] as const) : []),
    ...(query?.paged ? (["unsupported_sort", "invalid_cursor"] as const) : []),
    ...(precondition ? (["precondition_failed"] as const) : []),
    ...errors,
    ...impossible,
  ]);
  const byStatus = Map.groupBy(codes, (code) => (impossible.includes(code) ? 422 : errorCatalogue[code].status));
  return Object.fromEntries(
    [...byStatus].map(([status, some]) => [
      status,
      {
        description: `Codes: ${some.map((code) => `\`${code}\``).join(", ")}`,
        headers: {
          ...commonHeaders,
          ...(changes(route) ? { "Idempotency-Replayed": header("NotReplayed") } : {}),
          ...(status === 429 || status === 503 ? { "Retry-After": header("RetryAfter") } : {}),
          ...(some.includes("idempotency_key_in_use") ? { "Retry-After": header("RetryAfterIfInUse") } : {}),
        },
        content: {
          "application/json": {
            schema: { anyOf: [toSchema(resources.ErrorBody), toSchema(resources.FirstRevisionErrorBody)] },
            examples: errorExamplesOf(some),
          },
        },
      },
    ]),
  );
}
