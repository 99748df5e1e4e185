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
export function sendDocument(reply: FastifyReply, status: number, document: Document | { errors: object[] }) {
  // As bytes: to text Fastify would add a charset, which JSON:API does not have.
  const bytes = Buffer.from(JSON.stringify(document));
  return reply.code(status).header("content-type", mediaType).send(bytes);
}

/** What is included where nothing that could be included is here. */
export function nothingIncluded({ includes }: { includes: ReadonlySet<string> }): { included?: [] } {
  return includes.size > 0 ? { included: [] } : {};
}
