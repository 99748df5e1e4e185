/** Operations: the declaration of a route, which validates its requests and from which the OpenAPI document is made. */
import type Type from "typebox";
import type { RateWindow } from "../rate/limits.ts";

/** The part of an operation that all surfaces have. */
export interface Operation {
  /**
   * The scope that the key or access token needs; null if any will do. Of several it needs one, and the handler checks
   * which of them what is asked for needs.
   */
  scope: string | readonly string[] | null;
  /** Unique, camel case. */
  id: string;
  summary: string;
  /** Markdown that follows the summary. */
  description?: string;
  /** It records the one event of its body. */
  recordsEvent?: true;
  /** A POST that changes nothing. */
  reads?: true;
  /** Whether it takes If-Match. A creation knows it only to refuse it, because the resource has no version yet. */
  precondition?: true | "refused";
  /** The answer is a stream that is made while it is read. */
  streams?: true;
  /** The rate window, where the body decides it. */
  rateByBody?: (body: unknown) => RateWindow;
  /** Timeout of its RPC calls, where it exceeds the default. */
  timeoutMs?: number;
  /** The schema of the answer's data; for a list, of one item. */
  data: Type.TSchema;
  /** Whether it answers a list, in pages. */
  list?: true;
  /** Descriptions of successful answers, by status. */
  success: Readonly<Record<number, string>>;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** A route without an operation needs no key. */
    operation?: Operation;
  }
}
