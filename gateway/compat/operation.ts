/** Operations of the compatibility surface: each route says in one place what it takes and answers, and the OpenAPI document is made of that. */
import type Type from "typebox";
import type { QueryRules } from "./query.ts";

/** What there is to say of a route. */
export interface CompatOperation {
  /** Unique, in camel case. */
  id: string;
  summary: string;
  /** More than the summary says, in Markdown. */
  description?: string;
  query?: QueryRules;
  body?: Type.TSchema;
  /** An example of the body. */
  example?: object;
  /** It changes nothing, although it is sent with POST. */
  reads?: true;
  /** What the answer's data is; an array of it for a list. */
  data: Type.TSchema;
  list?: true;
  /** It may be that there is none. */
  mayBeNull?: true;
  /** Success, by status. */
  success: Readonly<Record<number, string>>;
}

declare module "fastify" {
  interface FastifyContextConfig {
    compat?: CompatOperation;
  }
}
