/** Operations of the compatibility surface, and the routes that serve them. */
import type { FastifyReply } from "fastify";
import type Type from "typebox";
import type { Clock } from "#shared/values/clock.ts";
import type { Caller } from "../plugins/authentication.ts";
import type { Operation } from "../surface/operation.ts";
import type { Route } from "../surface/routes.ts";
import type { CompatExchange } from "./exchange.ts";
import type { QueryRules } from "./query.ts";

/** What there is to say of a route. */
export interface CompatOperation<Body = unknown> extends Operation {
  query?: QueryRules;
  body?: BodyReader<Body>;
  /** An example of the body. */
  example?: object;
  /** It may be that there is none. */
  mayBeNull?: true;
}

/** Reads a body. */
export interface BodyReader<Body> {
  schema: Type.TSchema;
  /** @throws Refusal with all that is wrong. */
  read(this: void, value: unknown, setting: BodySetting): Body | Promise<Body>;
}

/** What reading a body may depend on. */
export interface BodySetting {
  caller: Caller;
  clock: Clock;
}

/** A route of this surface. */
export type CompatRoute<Body = unknown> = Route<CompatOperation<Body>, CompatExchange<Body>>;

/** An operation. @param scope what a key needs for it. */
export function operation<Body>(
  scope: string,
  what: Omit<CompatOperation<Body>, "scope">,
): CompatOperation<Body> & { scope: string } {
  return { scope, ...what };
}

/** A route, whose handler is given the query and the body as its operation has them. */
export function route<Body>(
  method: CompatRoute["method"],
  url: string,
  what: CompatOperation<Body>,
  handle: (exchange: CompatExchange<Body>) => FastifyReply | Promise<FastifyReply>,
): CompatRoute {
  return { method, url, operation: what, handle };
}
