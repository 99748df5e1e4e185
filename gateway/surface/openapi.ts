/** Building blocks of every surface's part of the OpenAPI document. */
import { listed } from "#shared/values/wording.ts";
import type { Operation } from "./operation.ts";
import { changes, type Route } from "./routes.ts";

export type Json = Record<string, unknown>;

/** A surface's part of the document. */
export interface SurfaceDescription {
  tags: readonly { name: string; description: string }[];
  paths: Readonly<Record<string, Json>>;
  schemas: Readonly<Record<string, unknown>>;
  securitySchemes: Readonly<Record<string, unknown>>;
  /** Examples that the operations refer to. */
  examples?: Readonly<Record<string, object>>;
}

/** The parts of a route's description that differ between surfaces. */
export interface RouteDescription {
  tag: string;
  /** Security schemes, where they differ from the document's. */
  security?: readonly Json[];
  parameters: readonly Json[];
  /** Request body by media type. */
  body: Json | undefined;
  /** Successful answer by media type. */
  answer: Json;
  /** Headers of a successful answer. */
  headers(status: string): Json;
  refusals: Json;
}

/** Response headers, by the names that operations refer to. */
export const headers: Json = {
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
    // A malformed path is refused before its route is known.
    required: false,
    schema: { type: "boolean" },
  },
  Replayed: {
    description: "Whether this is the answer to an earlier request; nothing was done again",
    schema: { type: "boolean" },
  },
};

export const header = (name: string): Json => ({ $ref: `#/components/headers/${name}` });

/** @param rateLimit the name of the header with the limit. */
export function commonHeaders(rateLimit: "RateLimit" | "CompatRateLimit"): Json {
  return {
    "X-Request-Id": header("RequestId"),
    "Service-Version": header("Revision"),
    "RateLimit-Limit": header(rateLimit),
    "RateLimit-Remaining": header("RateRemaining"),
    "RateLimit-Reset": header("RateReset"),
  };
}

/** The Retry-After header of a refusal. @param inUse whether the status includes `idempotency_key_in_use`. */
export function retryHeaders(status: number, inUse: boolean): Json {
  return {
    ...(status === 429 || status === 503 ? { "Retry-After": header("RetryAfter") } : {}),
    ...(inUse ? { "Retry-After": header("RetryAfterIfInUse") } : {}),
  };
}

export function parameter(place: "query" | "header", name: string, description: string, schema: Json = text): Json {
  return { name, in: place, description, schema };
}

const text = { type: "string" };

/** The schema of `sort`. */
export function sortSchema(fields: readonly string[], sortDefault: string | undefined): Json {
  return { type: "string", enum: fields.flatMap((field) => [field, `-${field}`]), default: sortDefault };
}

/** @param prefix such as `/v1`. */
export function describePaths<R extends Route<Operation, never>>(
  prefix: string,
  routes: readonly R[],
  describe: (route: R) => RouteDescription,
): Record<string, Json> {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = prefix + route.url.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route, describe(route)) };
  }
  return paths;
}

function describeRoute(route: Route<Operation, never>, said: RouteDescription): Json {
  const { id, summary, description, scope, success } = route.operation;
  const replayed = changes(route) ? { "Idempotency-Replayed": header("Replayed") } : {};
  const answers = Object.entries(success).map(([status, meaning]): [string, Json] => [
    status,
    { description: meaning, headers: { ...said.headers(status), ...replayed }, content: said.answer },
  ]);
  return {
    operationId: id,
    tags: [said.tag],
    ...(said.security ? { security: said.security } : {}),
    summary,
    description: [description, scopeText(scope)].filter(Boolean).join("\n\n"),
    parameters: said.parameters,
    ...(said.body ? { requestBody: { required: true, content: said.body } } : {}),
    responses: { ...Object.fromEntries(answers), ...said.refusals },
  };
}

function scopeText(scope: Operation["scope"]): string {
  if (scope === null) return "For every key and access token.";
  return `Scope: ${listed(
    [scope].flat().map((name) => `\`${name}\``),
    "or",
  )}.`;
}
