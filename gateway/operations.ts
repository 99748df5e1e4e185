/**
 * Claims and answers of requests with an Idempotency-Key, stored by the identity service. Those of concurrent requests
 * of a property share RPCs (batcher.ts); claims and answers are separate batches, so that no claim waits for large
 * answers.
 */
import type { Client } from "@connectrpc/connect";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ClaimOutcome,
  FinishedOperationSchema,
  IdentityService,
  OperationAnswer,
  RecordedOperation,
} from "#proto/daybook/identity/v1/identity_pb.ts";
import { createBatcher } from "#shared/scheduling/batcher.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import type { Closable } from "#shared/process/lifecycle.ts";
import type { Log } from "#shared/process/log.ts";
import { repeat } from "#shared/scheduling/repeat.ts";

/** An operation that this gateway has claimed. */
export interface Operation {
  propertyId: string;
  key: string;
  operationId: string;
  attempt: number;
}

/** A key, and the SHA-256 of the request that it came with. */
export interface WantedClaim {
  propertyId: string;
  key: string;
  fingerprint: Uint8Array;
}

/**
 * The result of a claim: ours to execute, already answered, already recorded, claimed elsewhere, or a key of another
 * request.
 */
export type Claimed = Operation | OperationAnswer | RecordedOperation | "under_way" | "reused";

/** The result of an operation. After "unknown" the next retry takes the operation over. */
export type Outcome = Omit<OperationAnswer, "$typeName" | "$unknown"> | "refused" | "unknown";

export interface Operations extends Closable {
  /** @throws DaybookError `service_unavailable` */
  claim(wanted: WantedClaim): Promise<Claimed>;
  /**
   * Stores the result of an operation.
   * @throws DaybookError `service_unavailable` when an answer could not be stored, and `idempotency_key_in_use` when
   * another attempt has taken the operation over and answers it. That attempt finds the same result.
   */
  finish(operation: Operation, outcome: Outcome): Promise<void>;
}

type Finished = MessageInitShape<typeof FinishedOperationSchema>;

const itemsMax = 500;
// The response to each claim may hold an answer of some hundred kilobytes.
const claimItemsMax = 100;
const flushesMax = 4;
const flushBytesMax = 4 * 1024 * 1024;
const queueItemsMax = 10_000;
// A third of the time after which an operation that is not renewed may be taken over.
const renewIntervalMs = 1_000;
// No request takes longer, so an older operation hangs.
const renewAgeMaxMs = 60_000;
const call = systemCall("gateway", 5_000);

export function createOperations(identity: Client<typeof IdentityService>, log: Log): Operations {
  // Operations under way and their start times, the oldest first.
  const underWay = new Map<Operation, number>();

  const claims = createBatcher<WantedClaim, ClaimOutcome>({
    flush: async (_property, wanted) => (await identity.claimOperations({ claims: wanted }, call)).outcomes,
    sizeOf: () => 1,
    flushItemsMax: claimItemsMax,
    flushSizeMax: claimItemsMax,
    flushesMax,
    queueItemsMax,
    queueFull,
  });

  const finishes = createBatcher<Finished & { bytes: number }, boolean>({
    flush: async (_property, operations) => (await identity.finishOperations({ operations }, call)).counts,
    sizeOf: ({ bytes }) => bytes,
    flushItemsMax: itemsMax,
    flushSizeMax: flushBytesMax,
    flushesMax,
    queueItemsMax,
    queueFull,
  });

  const renewing = repeat(renewIntervalMs, log, "renew operations", async () => {
    const now = performance.now();
    const long = [...underWay].flatMap(([operation, sinceMs]) => {
      const ageMs = now - sinceMs;
      return ageMs > renewIntervalMs / 2 && ageMs < renewAgeMaxMs ? [operation] : [];
    });
    for (let at = 0; at < long.length; at += itemsMax) {
      await identity.renewOperations({ operations: long.slice(at, at + itemsMax) }, call);
    }
  });

  return {
    async claim(wanted) {
      const { outcome } = await claims.add(wanted.propertyId, wanted);
      if (outcome.case === "answer" || outcome.case === "recorded") return outcome.value;
      if (outcome.case !== "claimed") return outcome.case === "reused" ? "reused" : "under_way";
      const { propertyId, key } = wanted;
      const operation = { propertyId, key, operationId: outcome.value.operationId, attempt: outcome.value.attempt };
      underWay.set(operation, performance.now());
      return operation;
    },
    async finish(operation, outcome) {
      underWay.delete(operation);
      const bytes =
        typeof outcome === "string" ? 0 : Buffer.byteLength(outcome.body) + Buffer.byteLength(outcome.maskedBody ?? "");
      const isAnswer = typeof outcome !== "string";
      const finished = { operation, outcome: toMessage(outcome), bytes };
      const counts = await finishes.add(operation.propertyId, finished).catch((error: unknown) => {
        if (isAnswer) throw error;
        log.warn({ err: error }, "what became of an operation could not be told");
      });
      if (isAnswer && counts === false) throw keyInUse();
    },
    async close() {
      await renewing.close();
      await finishes.drain();
    },
  };
}

function toMessage(outcome: Outcome): Finished["outcome"] {
  if (outcome === "refused") return { case: "refused", value: {} };
  if (outcome === "unknown") return { case: "unknown", value: {} };
  return { case: "answer", value: outcome };
}

/** The refusal of a request whose operation is under way elsewhere. */
export function keyInUse(): DaybookError {
  const message = "The first request with this Idempotency-Key is still being done. Try again in a second.";
  return new DaybookError("idempotency_key_in_use", message, { param: "Idempotency-Key" });
}

function queueFull(): DaybookError {
  return new DaybookError("service_unavailable", "More requests are waiting than can be taken. Try again in a second.");
}
