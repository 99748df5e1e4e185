/** Operations of the native surface, and the routes that serve them. */
import type { FastifyReply } from "fastify";
import type { ErrorCode } from "#shared/values/errors.ts";
import type { Operation } from "../surface/operation.ts";
import type { Route } from "../surface/routes.ts";
import type { Reader } from "../validation.ts";
import type { NativeExchange } from "./exchange.ts";
import type { QueryRules } from "./query.ts";

/** What there is to say of a route. */
export interface NativeOperation<Body = unknown> extends Operation {
  /** Which resource it belongs to. */
  tag: "Events" | "Profiles" | "Identifiers" | "Metrics" | "Schemas" | "Account";
  query?: QueryRules;
  /** Reads the body, in each of the forms that it may have. */
  body?: Reader<Body>;
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

/** A route of this surface. */
export type NativeRoute<Body = unknown> = Route<NativeOperation<Body>, NativeExchange<Body>>;

/** An operation. @param scope what a key needs for it, or null if any key will do. */
export function operation<Body>(
  scope: string | null,
  what: Omit<NativeOperation<Body>, "scope">,
): NativeOperation<Body> {
  return { scope, ...what };
}

/** A route, whose handler is given the query and the body as its operation has them. */
export function route<Body>(
  method: NativeRoute["method"],
  url: string,
  what: NativeOperation<Body>,
  handle: (exchange: NativeExchange<Body>) => FastifyReply | Promise<FastifyReply>,
): NativeRoute {
  return { method, url, operation: what, handle };
}
