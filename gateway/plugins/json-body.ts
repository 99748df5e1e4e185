/** Bodies are JSON in UTF-8, read without loss, and nothing else is taken. */
import type { FastifyRequest } from "fastify";
import { fastifyPlugin } from "fastify-plugin";
import { DaybookError } from "#shared/errors.ts";
import { parseJsonBytes } from "#shared/json.ts";

/** What a body may be. */
export interface BodyRules {
  /** Values that it may have. */
  valuesMax?: number;
  mayBeEmpty: boolean;
}

export const jsonBodyPlugin = fastifyPlugin((app) => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) =>
    // Some clients send the type with every request. A deletion has no body.
    readJsonBody(request, body as Buffer, { mayBeEmpty: request.method === "DELETE" }, done),
  );
});

/** Reads a body, as a parser of Fastify. */
export function readJsonBody(
  request: FastifyRequest,
  body: Buffer,
  { valuesMax, mayBeEmpty }: BodyRules,
  done: (error: Error | null, value?: unknown) => void,
): void {
  if (request.headers["idempotency-key"] !== undefined) request.bodyBytes = body;
  if (body.length === 0 && mayBeEmpty) return done(null, undefined);
  if (body.length === 0) return done(new DaybookError("invalid_json", "The body is empty. Send a JSON object."));
  try {
    done(null, parseJsonBytes(body, valuesMax));
  } catch (error) {
    const message = error instanceof SyntaxError ? error.message : "The body must be JSON.";
    done(new DaybookError("invalid_json", message, { cause: error }), undefined);
  }
}
