/** Operations and routes of the native surface. */
import type { ErrorCode } from "#shared/values/errors.ts";
import type { Operation } from "../surface/operation.ts";
import type { Answer, Route } from "../surface/routes.ts";
import type { Reader } from "../validation.ts";
import type { NativeExchange } from "./exchange.ts";
import type { QueryRules } from "./query.ts";

export interface NativeOperation<Body = unknown> extends Operation {
  /** The resource. */
  tag:
    | "Events"
    | "Profiles"
    | "Identifiers"
    | "Metrics"
    | "Schemas"
    | "Apps"
    | "Privacy"
    | "Webhooks"
    | "Rejected writes"
    | "Account";
  query?: QueryRules;
  /** Reads the body, in each of its forms. */
  body?: Reader<Body>;
  etag?: true;
  /** Errors beyond those of every operation. */
  errors?: readonly ErrorCode[];
  /** Codes that this operation answers with 422, whatever their status elsewhere. */
  impossible?: readonly ErrorCode[];
  examples: Examples;
}

/** Examples of an operation. Tests send those of requests and check those of answers against their schemas. */
export interface Examples {
  /** Bodies by summary, at least one for each form. */
  bodies?: Readonly<Record<string, object>>;
  /** The id in the path, where not every resource of its kind will do. */
  id?: string;
  /** Query parameters by name. */
  query?: Readonly<Record<string, string>>;
  /** Data of an answer; an array for a list, and the text of a stream. */
  data: object | string;
}

export type NativeRoute<Body = unknown> = Route<NativeOperation<Body>, NativeExchange<Body>>;

/** @param scope as in Operation. */
export function operation<Body>(
  scope: Operation["scope"],
  what: Omit<NativeOperation<Body>, "scope">,
): NativeOperation<Body> {
  return { scope, ...what };
}

/** Makes a route whose handler gets the query and body types of its operation. */
export function route<Body>(
  method: NativeRoute["method"],
  url: string,
  what: NativeOperation<Body>,
  handle: (exchange: NativeExchange<Body>) => Answer | Promise<Answer>,
): NativeRoute {
  return { method, url, operation: what, handle };
}
