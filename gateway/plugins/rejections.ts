/**
 * Notes writes of known callers that were refused for good: whole requests (4xx except 401 and 429), and items of
 * batches. They are noted once the answer is sent or its client is gone. A request that is not refused passes nothing
 * of this but the assignment of its body.
 */
import { fastifyPlugin } from "fastify-plugin";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { RejectionSurface } from "#proto/daybook/event/v1/rejected_pb.ts";
import { isJsonObject } from "#shared/json/json.ts";
import { DaybookError, type FieldError } from "#shared/values/errors.ts";
import { decodeId, deriveUuid, type Uuid } from "#shared/values/ids.ts";
import { payloadBytesMax } from "#shared/values/rejections.ts";
import { clientReferenceLengthMax } from "#shared/values/limits.ts";
import { Refusal } from "../compat/faults.ts";
import { typeOfEvent } from "../rejections/event-type.ts";
import type { Gatherer, Refused } from "../rejections/gatherer.ts";
import { operationName, surfaceOf } from "../rejections/operation-name.ts";
import { isWrite } from "./idempotency.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** Notes that a request was refused. */
    noteRefusal: (request: FastifyRequest, reply: FastifyReply, error: DaybookError) => void;
    /** Notes the items of a batch that were refused. */
    noteRefusedItems: (request: FastifyRequest, reply: FastifyReply, items: readonly RefusedItem[]) => void;
  }
  interface FastifyRequest {
    /** The begin of the raw body: a little more than is kept of it. Null without a body. */
    sentBytes: Buffer | null;
  }
}

export interface RefusedItem {
  index: number;
  /** As it was sent. */
  item: unknown;
  status: number;
  clientReference: string | null;
  error: { code: string; message: string; param: string | null; errors?: readonly FieldError[] | undefined };
}

export const rejectionsPlugin = fastifyPlugin<{ gatherer: Gatherer }>((app, { gatherer }) => {
  app.decorateRequest("sentBytes", null);

  app.decorate("noteRefusal", (request, reply, error) => {
    if (!request.caller || !isWrite(request) || !isForGood(error.status)) return;
    const refused = describe(request);
    if (!refused) return;
    reply.raw.once("close", () => {
      // An answer may still be replaced by another while it is sent.
      const { statusCode: status } = reply.raw;
      if (!isForGood(status)) return;
      const { body } = request;
      const reference = isJsonObject(body) ? body.client_reference : undefined;
      const { code, message, param } = error;
      gatherer.note({
        ...refused,
        status,
        error: { code, message, param, errors: error instanceof Refusal ? error.every : error.errors },
        clientReference: keepableReference(reference),
        eventType: typeOfEvent(body, refused.operation),
        readPayload: () => request.sentBytes ?? undefined,
      });
    });
  });

  app.decorate("noteRefusedItems", (request, reply, items) => {
    const refused = describe(request);
    const some = items.filter(({ status }) => isForGood(status));
    if (!refused || some.length === 0) return;
    const operationId = request.operation?.operationId;
    const operation = operationId === undefined ? undefined : decodeId("op", operationId, "operation_id");
    reply.raw.once("close", () => {
      for (const { index, item, status, clientReference, error } of some) {
        gatherer.note({
          ...refused,
          status,
          error: { ...error, errors: error.errors ?? [] },
          itemIndex: index,
          clientReference: keepableReference(clientReference),
          eventType: typeOfEvent(item, refused.operation),
          id: operation && idOfItem(operation, index),
          readPayload: () => Buffer.from(JSON.stringify(item) ?? ""),
        });
      }
    });
  });
});

/** The begin of a body, as a part of it if it is small, so that a large one does not stay for it. */
export function beginOf(body: Buffer): Buffer {
  // One byte more shows that the body is longer.
  return body.length <= payloadBytesMax ? body : Buffer.from(body.subarray(0, payloadBytesMax + 1));
}

/** A reference that is longer than one may be is no name of an item, and is not kept for it. */
function keepableReference(reference: unknown): string | undefined {
  return typeof reference === "string" && reference.length <= clientReferenceLengthMax ? reference : undefined;
}

/** An item that is refused in each attempt of an operation is one rejected write. */
function idOfItem(operation: Uuid, index: number): Uuid {
  return deriveUuid(operation, `rejected ${index}`);
}

/** Whether a status refuses for good. A retry without a change gets another answer after 401 and 429. */
function isForGood(status: number): boolean {
  return status >= 400 && status < 500 && status !== 401 && status !== 429;
}

function describe(
  request: FastifyRequest,
): (Pick<Refused, "caller" | "operation" | "requestId"> & { surface: RejectionSurface }) | undefined {
  const { caller, id: requestId } = request;
  return caller ? { caller, operation: operationName(request), surface: surfaceOf(request), requestId } : undefined;
}
