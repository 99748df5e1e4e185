/**
 * Idempotency-Key: the same request with the same key is done once within 24 hours, and answered the same. A key is claimed before the route does
 * anything, with the id of an operation; services do what belongs to an operation once, so that one which was cut short at any instant is finished
 * by whoever asks next. The answer is kept before it is sent.
 */
import { createHash } from "node:crypto";
import { fastifyPlugin } from "fastify-plugin";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { OperationAnswer } from "#proto/daybook/identity/v1/identity_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, deriveUuid, encodeId } from "#shared/values/ids.ts";
import { revisions } from "#shared/values/revisions.ts";
import { keyInUse, type Operation, type Operations, type Outcome } from "../operations.ts";
import { callerOf } from "./request.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** What the request does, when it came with an Idempotency-Key. */
    operation: Operation | null;
    /** Some of it is done and some is not: its answer is not kept, nor is its key free, and whoever asks again finishes it. */
    isUnfinished: boolean;
    /** The bytes of the body, kept for requests with an Idempotency-Key. */
    bodyBytes: Buffer | null;
    /**
     * Body of the answer as the other kind of key gets it: one that may see values of identifiers, when the caller's may not, and the other way round.
     * Null when both get the same.
     */
    otherBody: string | null;
  }
}

const keyPattern = /^[\x21-\x7e]{1,255}$/;
const writeMethods: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);
// What of an answer's head belongs to the answer, whoever it is given to.
const keptHeaders = ["content-type", "etag", "location"] as const;
const revisionHeader = "service-version";
const param = "Idempotency-Key";

/** The header, as the OpenAPI document has it. */
export const idempotencyKeyParameter = {
  name: param,
  in: "header",
  description:
    "The same request with the same key is done once within 24 hours: 1 to 255 printable ASCII characters without space",
  schema: { type: "string", pattern: keyPattern.source },
} as const;

export const idempotencyPlugin = fastifyPlugin<{ operations: Operations }>((app, { operations }) => {
  app.decorateRequest("operation", null);
  app.decorateRequest("isUnfinished", false);
  app.decorateRequest("bodyBytes", null);
  app.decorateRequest("otherBody", null);

  app.addHook("preHandler", async (request, reply) => {
    const key = request.headers["idempotency-key"];
    if (key === undefined || !isWrite(request) || !request.caller) return undefined;
    if (typeof key !== "string" || !keyPattern.test(key)) {
      const message = "`Idempotency-Key` must be 1 to 255 printable ASCII characters without spaces.";
      throw new DaybookError("parameter_invalid", message, { param });
    }
    const { propertyId } = callerOf(request);
    const claimed = await operations.claim({ propertyId, key, fingerprint: fingerprintOf(request) });
    if (claimed === "under_way") throw keyInUse();
    if (claimed === "reused") {
      const message = "`Idempotency-Key` was used for another request. Send a new key with a new request.";
      throw new DaybookError("idempotency_key_reused", message, { param });
    }
    if (!("operationId" in claimed)) return replay(request, reply, claimed);
    request.operation = claimed;
    return undefined;
  });

  app.addHook("onSend", async (request, reply, payload) => {
    if (isWrite(request) && !reply.hasHeader("idempotency-replayed"))
      void reply.header("idempotency-replayed", "false");
    const { operation } = request;
    if (!operation) return;
    request.operation = null;
    try {
      await operations.finish(operation, outcomeOf(request, reply, payload));
    } catch (error) {
      // Nobody is given an answer that is not kept.
      for (const name of keptHeaders) reply.removeHeader(name);
      throw error;
    }
  });
});

/**
 * The operation that a request is, as a field of what is asked of services; nothing without an Idempotency-Key.
 * @param part names which part of the operation it is, when there are several.
 */
export function operationOf({ operation }: FastifyRequest, part?: string | number): { operationId?: string } {
  if (!operation) return {};
  const { operationId } = operation;
  if (part === undefined) return { operationId };
  return { operationId: encodeId("op", deriveUuid(decodeId("op", operationId, "operation_id"), String(part))) };
}

/** Whether a request is of an operation that changes something. */
export function isWrite({ method, routeOptions: { config } }: FastifyRequest): boolean {
  return config.operation !== undefined && !config.operation.reads && writeMethods.has(method);
}

/** Whether a caller may see more of an identifier than its mask. */
export function maySeeValues(request: FastifyRequest): boolean {
  return callerOf(request).scopes.has("identifiers:read_value");
}

/** What makes a request the same: nothing of the key that it came with, so that a new key can repeat what an old one began. */
function fingerprintOf(request: FastifyRequest): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([request.method, request.raw.url]))
    .update(request.bodyBytes ?? "")
    .digest();
}

/** Answers as the first request was answered, but for its id; without values of identifiers for a key that may not see them. */
function replay(request: FastifyRequest, reply: FastifyReply, answer: OperationAnswer): FastifyReply {
  const { [revisionHeader]: revision, ...headers } = answer.headers;
  request.revision = revisions.find((known) => known === revision) ?? request.revision;
  const kept = maySeeValues(request) ? answer.body : (answer.maskedBody ?? answer.body);
  // As bytes, so that the content type stays as it is.
  const body = Buffer.from(kept.replace(answer.requestId, request.id));
  return reply
    .code(answer.status)
    .headers({ ...headers, "idempotency-replayed": "true" })
    .send(body);
}

function outcomeOf(request: FastifyRequest, reply: FastifyReply, payload: unknown): Outcome {
  const { statusCode: status } = reply;
  if (status >= 500 || request.isUnfinished) return "unknown";
  if (status >= 400) return "refused";
  const headers: Record<string, string> = { [revisionHeader]: request.revision };
  for (const name of keptHeaders) {
    const value = reply.getHeader(name);
    if (value !== undefined) headers[name] = String(value);
  }
  const own = (payload as string | Buffer | undefined)?.toString() ?? "";
  const answer = { status, headers, body: own, requestId: request.id };
  const { otherBody } = request;
  if (otherBody === null || otherBody === own) return answer;
  return maySeeValues(request) ? { ...answer, maskedBody: otherBody } : { ...answer, body: otherBody, maskedBody: own };
}
