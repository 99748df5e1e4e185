/** Types and constructors of operations and routes. */
import type Type from "typebox";
import type { Clock } from "#shared/values/clock.ts";
import type { Caller } from "../callers.ts";
import type { Operation } from "../surface/operation.ts";
import type { Answer, Route } from "../surface/routes.ts";
import type { CompatExchange } from "./exchange.ts";
import type { QueryRules } from "./query.ts";

/** Describes a route. */
export interface CompatOperation<Body = unknown> extends Operation {
  query?: QueryRules;
  body?: BodyReader<Body>;
  example?: object;
  /** The answer has no body. */
  hasNoAnswer?: true;
  /** `data` may be null. */
  mayBeNull?: true;
}

export interface BodyReader<Body> {
  schema: Type.TSchema;
  /** @throws Refusal with every fault. */
  read(this: void, value: unknown, setting: BodySetting): Body | Promise<Body>;
}

/** What body readers may use. */
export interface BodySetting {
  caller: Caller;
  clock: Clock;
}

export type CompatRoute<Body = unknown> = Route<CompatOperation<Body>, CompatExchange<Body>>;

/** @param scope required of the key. */
export function operation<Body>(
  scope: string,
  what: Omit<CompatOperation<Body>, "scope">,
): CompatOperation<Body> & { scope: string } {
  return { scope, ...what };
}

/** The handler gets the validated query and body. */
export function route<Body>(
  method: CompatRoute["method"],
  url: string,
  what: CompatOperation<Body>,
  handle: (exchange: CompatExchange<Body>) => Answer | Promise<Answer>,
): CompatRoute {
  return { method, url, operation: what, handle };
}
