/** Operations: each route says in one place what validates it, what it needs and what it answers, and the OpenAPI document is made of that. */
import type Type from "typebox";
import type { ErrorCode } from "#shared/values/errors.ts";
import type { QueryRules } from "./query.ts";

/** What there is to say of a route. */
export interface Operation {
  /** Unique, in camel case. */
  id: string;
  /** Which resource it belongs to. */
  tag: "Events" | "Profiles" | "Identifiers" | "Metrics" | "Schemas" | "Account";
  summary: string;
  /** More than the summary says, in Markdown. */
  description?: string;
  query?: QueryRules;
  /** The forms that a body may have: these schemas validate it. */
  body?: readonly Type.TObject[];
  /** Whether it takes If-Match. */
  precondition?: true;
  /** It changes nothing, although it is sent with POST. */
  reads?: true;
  /** What it answers. */
  data: Type.TSchema;
  /** Whether data is an array of those, in pages. */
  list?: true;
  /** Success, by status. */
  success: Readonly<Record<number, string>>;
  /** Whether the answer has an ETag. */
  etag?: true;
  /** What it refuses for beyond what every operation does. */
  errors?: readonly ErrorCode[];
  /** Codes that it answers with 422, as an impossible change, although their status elsewhere is another. */
  impossible?: readonly ErrorCode[];
  examples: Examples;
}

/** Examples of an operation. The tests send those of requests, and hold those of answers against their schemas. */
export interface Examples {
  /** Bodies, by what they show; each form has one at least. */
  bodies?: Readonly<Record<string, object>>;
  /** Values of query parameters, by their names. */
  query?: Readonly<Record<string, string>>;
  /** Data of an answer; of a list, an array. */
  data: object;
}

declare module "fastify" {
  interface FastifyContextConfig {
    operation?: Operation;
  }
}

/** Options of a route: the scope that a key needs for it, or null if any key will do, and what there is to say of it. */
export function operation(
  scope: string | null,
  what: Operation,
): {
  config: { scope: string | null; reads: true | undefined; precondition: true | undefined; operation: Operation };
} {
  return { config: { scope, reads: what.reads, precondition: what.precondition, operation: what } };
}
