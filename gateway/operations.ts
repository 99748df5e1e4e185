/**
 * Operations: what requests with an Idempotency-Key do, each once. The identity service keeps who is at which; claims and answers of concurrent
 * requests of a property ride together, as batcher.ts tells, so that none waits for the large answers of another.
 */
import type { Client } from "@connectrpc/connect";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ClaimOutcome,
  FinishedOperationSchema,
  IdentityService,
  OperationAnswer,
} from "#proto/daybook/identity/v1/identity_pb.ts";
import { createBatcher } from "#shared/scheduling/batcher.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import type { Closable } from "#shared/process/lifecycle.ts";
import type { Log } from "#shared/process/log.ts";
import { repeat } from "#shared/scheduling/repeat.ts";

/** An operation that this gateway is at. */
export interface Operation {
  propertyId: string;
  key: string;
  operationId: string;
  attempt: number;
}

/** What became of a claim: the operation is ours to do, was done, is somebody else's, or the key is another request's. */
export type Claimed = Operation | OperationAnswer | "under_way" | "reused";

/** What became of an operation; of one that is unknown whoever asks next takes it over. */
export type Outcome = Omit<OperationAnswer, "$typeName" | "$unknown"> | "refused" | "unknown";

/** See the head of this file. */
export interface Operations extends Closable {
  /**
   * Claims a key for a request.
   * @throws DaybookError `service_unavailable`
   */
  claim(wanted: { propertyId: string; key: string; fingerprint: Uint8Array }): Promise<Claimed>;
  /**
   * Says what became of an operation.
   * @throws DaybookError `service_unavailable` when an answer could not be kept, and `idempotency_key_in_use` when somebody else has taken the
   * operation over and gives the answer. Whoever takes it over finds the same outcome.
   */
  finish(operation: Operation, outcome: Outcome): Promise<void>;
}

type Finished = MessageInitShape<typeof FinishedOperationSchema>;

const itemsMax = 500;
// Each may be given an answer of some hundred kilobytes.
const claimItemsMax = 100;
const flushesMax = 4;
const flushBytesMax = 4 * 1024 * 1024;
const queueItemsMax = 10_000;
// A third of what an operation may go without it.
const renewIntervalMs = 1_000;
// No request takes longer; what is older hangs.
const renewAgeMaxMs = 60_000;
const call = systemCall("gateway", 5_000);

export function createOperations(identity: Client<typeof IdentityService>, log: Log): Operations {
  // Those under way, by when they were begun: the oldest first.
  const underWay = new Map<Operation, number>();

  const claims = createBatcher<{ propertyId: string; key: string; fingerprint: Uint8Array }, ClaimOutcome>({
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
      if (outcome.case === "answer") return outcome.value;
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

/** The error for who asks while somebody else is at the operation. */
export function keyInUse(): DaybookError {
  const message = "The first request with this Idempotency-Key is still being done. Try again in a second.";
  return new DaybookError("idempotency_key_in_use", message, { param: "Idempotency-Key" });
}

function queueFull(): DaybookError {
  return new DaybookError("service_unavailable", "More requests are waiting than can be taken. Try again in a second.");
}
