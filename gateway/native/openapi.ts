/** The native part of the OpenAPI document, made from the routes and from the schemas that validate requests. */
import { errorCatalogue, type ErrorCode } from "#shared/values/errors.ts";
import { newestRevision } from "#shared/values/revisions.ts";
import { createSchemaWriter } from "../docs/schema-writer.ts";
import { streamType } from "../export/exports.ts";
import {
  commonHeaders,
  describePaths,
  header,
  retryHeaders,
  type Json,
  type RouteDescription,
  type SurfaceDescription,
} from "../surface/openapi.ts";
import { changes } from "../surface/routes.ts";
import { errorExamples, errorExamplesOf } from "./error-examples.ts";
import { exampleIds } from "./examples.ts";
import { headerParameters, pathParameters, queryParameters } from "./openapi-parameters.ts";
import type { NativeOperation, NativeRoute } from "./operation.ts";
import { pageLimit } from "./query.ts";
import * as resources from "./resources.ts";
import * as responses from "./response-schemas.ts";
import * as metricBodies from "./metric-schemas.ts";
import * as privacyResources from "./privacy-resources.ts";
import * as privacyBodies from "./privacy-schemas.ts";
import * as rejectedWrites from "./rejected-write-schemas.ts";
import { nativeRoutes } from "./routes.ts";
import * as bodies from "./schemas.ts";

// Exported schemas become named components.
const { toSchema, schemas } = createSchemaWriter([
  resources,
  privacyResources,
  responses,
  bodies,
  metricBodies,
  privacyBodies,
  rejectedWrites,
]);

/** @param prefix of the paths. */
export function describeNative(prefix: string): SurfaceDescription {
  return {
    tags: [...new Set(nativeRoutes.map(({ operation }) => operation.tag))].map((name) => ({
      name,
      description: tagDescriptions[name],
    })),
    paths: describePaths(prefix, nativeRoutes, describeRoute),
    schemas,
    securitySchemes: {
      bearer: {
        type: "http",
        scheme: "bearer",
        description: "A secret key of the property, or an access token of an app",
      },
    },
    examples: errorExamples,
  };
}

const tagDescriptions: Readonly<Record<NativeOperation["tag"], string>> = {
  Events: "What customers did: typed, timestamped occurrences, each attached to a profile or waiting for one.",
  Profiles: "Who customers are: identifiers, attributes, tags and a location.",
  Identifiers: "What a profile is known by: emails, phones, ids of other systems.",
  Metrics: "One for each event type: its observed schema, and aggregates over time.",
  Schemas: "The observed fields of event properties and profile attributes.",
  Apps: "Programs of partners that have access to the property, and their installations.",
  Privacy: "What persons ask for: access to what is kept of them, and its erasure.",
  "Rejected writes": "What was refused and why, to find bad data: entries for 30 days, exact counts for 90.",
  Webhooks: "What happens, sent to your server: endpoints, deliveries, replays.",
  Account: "The property, the key or installation that calls, and the revisions of the API.",
};

function describeRoute(route: NativeRoute): RouteDescription {
  const { url, operation } = route;
  const { body, examples } = operation;
  const data = operation.list ? { type: "array", items: toSchema(operation.data) } : toSchema(operation.data);
  const answer = {
    type: "object",
    properties: { data, meta: toSchema(responses.Meta) },
    required: ["data", "meta"],
    additionalProperties: false,
  };
  const forms = body?.schemas.map((schema) => toSchema(schema));
  return {
    tag: operation.tag,
    parameters: [
      ...pathParameters(url, examples.id),
      ...queryParameters(operation.query, examples.query),
      ...headerParameters(operation, changes(route)),
    ],
    body: forms && toContent(forms.length > 1 ? { anyOf: forms } : forms[0], examples.bodies),
    answer: operation.streams
      ? { [streamType]: { schema: data, examples: { answer: { summary: "Answer", value: examples.data } } } }
      : toContent(answer, { Answer: { data: examples.data, meta: exampleMeta(operation) } }),
    headers: (status) => ({
      ...commonHeaders("RateLimit"),
      ...(operation.etag ? { ETag: header("ETag") } : {}),
      ...(status === "201" ? { Location: header("Location") } : {}),
    }),
    refusals: describeRefusals(route),
  };
}

/** @param examples by summary. */
function toContent(schema: unknown, examples: Readonly<Record<string, object>> = {}): Json {
  const named = Object.entries(examples).map(([summary, value]) => [toName(summary), { summary, value }]);
  return { "application/json": { schema, ...(named.length > 0 ? { examples: Object.fromEntries(named) } : {}) } };
}

function toName(words: string): string {
  return words.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}

function exampleMeta({ list, query, reads }: NativeOperation): Json {
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
// A DELETE has no body, but one that is sent is parsed.
const everyBody: readonly ErrorCode[] = ["invalid_json", "request_too_large", "unsupported_media_type"];

/** Refusals by status, with their codes. */
function describeRefusals(route: NativeRoute): Json {
  const { method, operation } = route;
  const { scope, body, query, precondition, errors = [], impossible = [] } = operation;
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
          ...commonHeaders("RateLimit"),
          ...(changes(route) ? { "Idempotency-Replayed": header("NotReplayed") } : {}),
          ...retryHeaders(status, some.includes("idempotency_key_in_use")),
          ...(some.includes("not_ready") ? { "Retry-After": header("RetryAfter") } : {}),
        },
        content: {
          "application/json": {
            schema: { anyOf: [toSchema(responses.ErrorBody), toSchema(responses.FirstRevisionErrorBody)] },
            examples: errorExamplesOf(some),
          },
        },
      },
    ]),
  );
}
