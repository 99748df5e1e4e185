/**
 * Idempotency-Key: a request is executed once per key within 24 hours, and retries get the stored answer. The key is
 * claimed with an operation id before the route does anything. Services are idempotent per operation, so the next retry
 * finishes an operation that was interrupted at any point. The answer is stored before it is sent.
 *
 * Where the event service has the keys in its own database, it claims that of a request for one event as it stores the
 * event, and what it recorded stands in place of the answer. A key that it finds held is claimed like every other.
 */
import { hash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { fastifyPlugin } from "fastify-plugin";
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from "fastify";
import { RequestClaimSchema, type EventInput, type RecordEventResult } from "#proto/daybook/event/v1/event_pb.ts";
import type { OperationAnswer, RecordedOperation } from "#proto/daybook/identity/v1/identity_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, deriveUuid, encodeId } from "#shared/values/ids.ts";
import { revisions } from "#shared/values/revisions.ts";
import { keyInUse, type Operation, type Operations, type Outcome, type WantedClaim } from "../operations.ts";
import { callerOf } from "./request.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The claimed operation of a request with an Idempotency-Key. */
    operation: Operation | null;
    /** The key of a request for one event, which is not claimed yet. */
    claim: WantedClaim | null;
    /** What was recorded for the key before. */
    recorded: string | null;
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

interface Options {
  operations: Operations;
  /** Whether the event service claims keys as it stores events. */
  claimsWithEvents: boolean;
}

export const idempotencyPlugin = fastifyPlugin<Options>((app, { operations, claimsWithEvents }) => {
  app.decorateRequest("operation", null);
  app.decorateRequest("claim", null);
  app.decorateRequest("recorded", null);
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
    const wanted = { propertyId, key, fingerprint: fingerprintOf(request) };
    if (claimsWithEvents && request.routeOptions.config.operation?.recordsEvent) {
      request.claim = wanted;
      return undefined;
    }
    return (await take(request, reply, wanted)) ? reply : undefined;
  });

  app.addHook("onRoute", (route) => {
    const { handler } = route;
    if (!claimsWithEvents || !route.config?.operation?.recordsEvent) return;
    route.handler = async function (this, request, reply) {
      try {
        return await handler.call(this, request, reply);
      } catch (error) {
        const { claim } = request;
        // What is wrong with a request matters only if its key was not used for another.
        const isRefusal = error instanceof DaybookError && error.status < 500;
        if (!claim || !(isRefusal || error instanceof ClaimFirst)) throw error;
        request.claim = null;
        const isAnswered = await take(request, reply, claim);
        return isAnswered ? reply : handler.call(this, request, reply);
      }
    } satisfies RouteHandlerMethod;
  });

  /** Claims a key. @returns whether the request was answered before, and is again. */
  async function take(request: FastifyRequest, reply: FastifyReply, wanted: WantedClaim): Promise<boolean> {
    const claimed = await operations.claim(wanted);
    if (claimed === "under_way") throw keyInUse();
    if (claimed === "reused") {
      const message = "`Idempotency-Key` was used for another request. Send a new key with a new request.";
      throw new DaybookError("idempotency_key_reused", message, { param });
    }
    if ("status" in claimed) {
      replay(request, reply, claimed);
      return true;
    }
    if ("result" in claimed) tellAgain(request, reply, claimed);
    else request.operation = claimed;
    return false;
  }

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

/** Thrown within a handler when the key of the request has to be claimed before anything is done. */
class ClaimFirst extends Error {}

/** Has the key of a request for one event claimed now, because more is done for it than to record the event. */
export function claimFirst({ claim }: FastifyRequest): void {
  if (claim) throw new ClaimFirst();
}

/** Records the event of a request for one event, under its key if it has one. */
export async function recordUnderKey(
  request: FastifyRequest,
  event: EventInput,
  record: (event: EventInput) => Promise<RecordEventResult>,
): Promise<RecordEventResult> {
  const { claim, recorded, revision } = request;
  if (recorded !== null) return record(Object.assign(event, { recorded }));
  if (!claim) return record(Object.assign(event, eventOperationOf(request)));
  const { key, fingerprint } = claim;
  const result = await record(
    Object.assign(event, { claim: create(RequestClaimSchema, { key, fingerprint, revision }) }),
  );
  const { outcome } = result;
  // That a key of the body or a dedupe_id was used before is an answer, which has to be stored.
  const isHeld = outcome.case === "error" && outcome.value.code === "idempotency_key_in_use";
  if (isHeld || (outcome.case === "recorded" && outcome.value.replayed)) throw new ClaimFirst();
  return result;
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
  const head = JSON.stringify([request.method, request.raw.url]);
  return hash("sha256", Buffer.concat([Buffer.from(head), request.bodyBytes ?? Buffer.alloc(0)]), "buffer");
}

/** Replays the stored answer with the new request id, masked for a key that may not see identifier values. */
function replay(request: FastifyRequest, reply: FastifyReply, answer: OperationAnswer): void {
  const { [revisionHeader]: revision, ...headers } = answer.headers;
  request.revision = knownRevision(revision) ?? request.revision;
  const kept = maySeeValues(request) ? answer.body : (answer.maskedBody ?? answer.body);
  // Sent as bytes, so that Fastify does not change the content type.
  const body = Buffer.from(kept.replace(answer.requestId, request.id));
  void reply
    .code(answer.status)
    .headers({ ...headers, "idempotency-replayed": "true" })
    .send(body);
}

/** Has the handler answer with what was recorded, in the revision of the first answer. */
function tellAgain(request: FastifyRequest, reply: FastifyReply, { result, revision }: RecordedOperation): void {
  request.recorded = result;
  request.revision = knownRevision(revision) ?? request.revision;
  void reply.header("idempotency-replayed", "true");
}

function knownRevision(text: string | undefined): FastifyRequest["revision"] | undefined {
  return revisions.find((known) => known === text);
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
