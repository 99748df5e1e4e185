/**
 * Idempotency-Key: a request is executed once per key within 24 hours, and retries get the stored answer. The key is
 * claimed with an operation id before the route does anything. Services are idempotent per operation, so the next retry
 * finishes an operation that was interrupted at any point. The answer is stored before it is sent.
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
    /** The claimed operation of a request with an Idempotency-Key. */
    operation: Operation | null;
    /** The work is partly done: the answer is not stored and the key stays claimed, so a retry finishes it. */
    isUnfinished: boolean;
    /** The raw body, kept for requests with an Idempotency-Key. */
    bodyBytes: Buffer | null;
    /** The answer for a key with the opposite right to see identifier values. Null if both bodies are equal. */
    otherBody: string | null;
    /** The answer has a secret, so `otherBody`, which has none, is stored instead: a repeat comes without it. */
    isSecret: boolean;
  }
}

const keyPattern = /^[\x21-\x7e]{1,255}$/;
const writeMethods: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);
// Headers that are stored with the answer.
const keptHeaders = ["content-type", "etag", "location"] as const;
const revisionHeader = "service-version";
const param = "Idempotency-Key";

export const idempotencyKeyParameter = {
  name: param,
  in: "header",
  description:
    "The same request with the same key is done once within 24 hours: " +
    "1 to 255 printable ASCII characters without space",
  schema: { type: "string", pattern: keyPattern.source },
} as const;

export const idempotencyPlugin = fastifyPlugin<{ operations: Operations }>((app, { operations }) => {
  app.decorateRequest("operation", null);
  app.decorateRequest("isUnfinished", false);
  app.decorateRequest("bodyBytes", null);
  app.decorateRequest("otherBody", null);
  app.decorateRequest("isSecret", false);

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
      // An answer that could not be stored must not be sent.
      for (const name of keptHeaders) reply.removeHeader(name);
      throw error;
    }
  });
});

/**
 * The operation id as a field of RPC requests; empty without an Idempotency-Key.
 * @param part derives a separate id for each part of an operation that makes several calls.
 */
export function operationOf({ operation }: FastifyRequest, part?: string | number): { operationId?: string } {
  if (!operation) return {};
  const { operationId } = operation;
  if (part === undefined) return { operationId };
  return { operationId: encodeId("op", deriveUuid(decodeId("op", operationId, "operation_id"), String(part))) };
}

/**
 * As operationOf, for an event. It says whether the operation is at its first attempt, because looking for an earlier
 * event costs a tenth of the throughput of single events with a key.
 */
export function eventOperationOf(
  request: FastifyRequest,
  part?: number,
): { operationId?: string; operationIsNew?: boolean } {
  return { ...operationOf(request, part), operationIsNew: request.operation?.attempt === 1 };
}

export function isWrite({ method, routeOptions: { config } }: FastifyRequest): boolean {
  return config.operation !== undefined && !config.operation.reads && writeMethods.has(method);
}

/** Whether the key may see unmasked identifier values. */
export function maySeeValues(request: FastifyRequest): boolean {
  return callerOf(request).scopes.has("identifiers:read_value");
}

/** Identifies the request without its API key, so that a retry with a new API key matches. */
function fingerprintOf(request: FastifyRequest): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([request.method, request.raw.url]))
    .update(request.bodyBytes ?? "")
    .digest();
}

/** Replays the stored answer with the new request id, masked for a key that may not see identifier values. */
function replay(request: FastifyRequest, reply: FastifyReply, answer: OperationAnswer): FastifyReply {
  const { [revisionHeader]: revision, ...headers } = answer.headers;
  request.revision = revisions.find((known) => known === revision) ?? request.revision;
  const kept = maySeeValues(request) ? answer.body : (answer.maskedBody ?? answer.body);
  // Sent as bytes, so that Fastify does not change the content type.
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
  if (request.isSecret) return { ...answer, body: otherBody ?? "" };
  if (otherBody === null || otherBody === own) return answer;
  return maySeeValues(request) ? { ...answer, maskedBody: otherBody } : { ...answer, body: otherBody, maskedBody: own };
}
