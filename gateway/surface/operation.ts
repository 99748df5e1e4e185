/** Operations: each route says in one place what it takes and answers. Requests are checked by it, and the OpenAPI document is made of it. */
import type Type from "typebox";
import type { RateWindow } from "../rate/limits.ts";

/** What there is to say of a route, whatever its surface. */
export interface Operation {
  /** What a key needs for it; null if any key will do. */
  scope: string | null;
  /** Unique, in camel case. */
  id: string;
  summary: string;
  /** More than the summary says, in Markdown. */
  description?: string;
  /** It changes nothing, although it is sent with POST. */
  reads?: true;
  /** Whether it takes If-Match. A creation takes it only to refuse it: nothing has a version yet. */
  precondition?: true | "refused";
  /** Which rate window a request is taken from, when its body decides that. */
  rateByBody?: (body: unknown) => RateWindow;
  /** Milliseconds that its calls may take, when that is more than a call may take elsewhere. */
  timeoutMs?: number;
  /** What the answer's data is; of a list, an array of it. */
  data: Type.TSchema;
  /** Whether it answers a list, in pages. */
  list?: true;
  /** Success, by status. */
  success: Readonly<Record<number, string>>;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** A route without one asks for no key. */
    operation?: Operation;
  }
}
