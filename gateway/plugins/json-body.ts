/** Parses bodies as JSON in UTF-8 without loss; other content types are refused. */
import type { FastifyRequest } from "fastify";
import { fastifyPlugin } from "fastify-plugin";
import { DaybookError } from "#shared/values/errors.ts";
import { parseJsonBody } from "#shared/json/body.ts";
import { beginOf } from "./rejections.ts";

export interface BodyRules {
  /** Maximum number of values. */
  valuesMax?: number | undefined;
  /** Whether a body without a byte is none; else it is refused. */
  mayBeEmpty?: boolean;
}

export const jsonBodyPlugin = fastifyPlugin((app) => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, async (request: FastifyRequest, body: Buffer) =>
    // Some clients send the content type with every request, also with DELETE, which has no body.
    readJsonBody(request, body, { mayBeEmpty: request.method === "DELETE" }),
  );
});

/** @throws DaybookError `invalid_json` */
export async function readJsonBody(
  request: FastifyRequest,
  body: Buffer,
  { valuesMax, mayBeEmpty }: BodyRules,
): Promise<unknown> {
  if (request.headers["idempotency-key"] !== undefined) request.bodyBytes = body;
  request.sentBytes = beginOf(body);
  if (body.length === 0 && mayBeEmpty) return undefined;
  if (body.length === 0) throw new DaybookError("invalid_json", "The body is empty. Send a JSON object.");
  try {
    return await parseJsonBody(body, { valuesMax });
  } catch (error) {
    throw error instanceof SyntaxError ? new DaybookError("invalid_json", error.message, { cause: error }) : error;
  }
}
