/** Makes JSON:API documents. Numbers that callers stored keep their digits. */
import type { FastifyReply, FastifyRequest } from "fastify";

/** The media type of every answer. */
export const mediaType = "application/vnd.api+json";

export interface Resource {
  type: string;
  id: string;
  attributes?: object;
  relationships?: object;
  links?: { self: string };
}

export interface Document {
  data: Resource | Resource[] | null;
  included?: Resource[];
  links?: { self: string; related?: string; next?: string | null; prev?: string | null };
}

const revisionLengthMax = 64;

/** Any revision is accepted and echoed. */
export function echoRevision({ headers: { revision } }: FastifyRequest, reply: FastifyReply): void {
  if (typeof revision === "string" && revision.length <= revisionLengthMax) void reply.header("revision", revision);
}

/** Sets the status of an answer. @returns its body. */
export function answerDocument(reply: FastifyReply, status: number, document: Document | { errors: object[] }): Buffer {
  void reply.code(status).header("content-type", mediaType);
  // As bytes, because Fastify adds a charset to strings, which JSON:API forbids.
  return Buffer.from(JSON.stringify(document));
}

/** An empty `included` if the query asks for one; nothing here can be included. */
export function nothingIncluded({ includes }: { includes: ReadonlySet<string> }): { included?: [] } {
  return includes.size > 0 ? { included: [] } : {};
}
