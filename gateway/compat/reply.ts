/** Answers: JSON:API documents. What callers stored goes out as it came in, as numbers keep their own text on the way through. */
import type { FastifyReply, FastifyRequest } from "fastify";

/** What every answer of this surface is. */
export const mediaType = "application/vnd.api+json";

/** A resource. */
export interface Resource {
  type: string;
  id: string;
  attributes?: object;
  relationships?: object;
  links?: { self: string };
}

/** A document. */
export interface Document {
  data: Resource | Resource[] | null;
  included?: Resource[];
  links?: { self: string; related?: string; next?: string | null; prev?: string | null };
}

const revisionLengthMax = 64;

/** Any revision is taken, and said back. */
export function echoRevision({ headers: { revision } }: FastifyRequest, reply: FastifyReply): void {
  if (typeof revision === "string" && revision.length <= revisionLengthMax) void reply.header("revision", revision);
}

/** Answers with a document. */
export function sendDocument(reply: FastifyReply, status: number, document: Document): FastifyReply {
  return sendJson(reply, status, document);
}

/** As bytes: to text Fastify would add a charset, which JSON:API does not have. */
export function sendJson(reply: FastifyReply, status: number, value: object): FastifyReply {
  return reply
    .code(status)
    .header("content-type", mediaType)
    .send(Buffer.from(JSON.stringify(value)));
}

/** As sendDocument, of a write. */
export function sendWritten(
  reply: FastifyReply,
  status: number,
  document: Document,
  { replayed = false }: { replayed?: boolean } = {},
): FastifyReply {
  if (replayed) void reply.header("idempotency-replayed", "true");
  return sendDocument(reply, status, document);
}
