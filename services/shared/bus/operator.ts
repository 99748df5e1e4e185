/** The RPCs with which operators see and repair the bus, for one service or for all that share a process. */
import { create } from "@bufbuild/protobuf";
import {
  BusService,
  DescribeBusResponseSchema,
  RepublishResponseSchema,
  RetryDeadLettersResponseSchema,
} from "#proto/daybook/common/v1/bus_pb.ts";
import { BusAwayError, type Bus, type BusState } from "./bus.ts";
import { DaybookError } from "../values/errors.ts";
import { toUuid } from "../values/ids.ts";
import type { OutboxRelay } from "../outbox/outbox.ts";
import { toTimestamp } from "../values/time.ts";
import type { Routes } from "../process/service.ts";

/** Serves BusService for outboxes that publish to the same bus. */
export function busRoutes(bus: Bus, outboxes: readonly OutboxRelay[]): Routes {
  return (router) => {
    router.service(BusService, {
      async describeBus() {
        const [described, state] = await Promise.all([
          Promise.all(outboxes.map(describeOutbox)),
          bus.describe().catch((error: unknown) => {
            if (error instanceof BusAwayError) return error;
            throw error;
          }),
        ]);
        const busFields = state instanceof BusAwayError ? { away: state.message } : describeState(state);
        return create(DescribeBusResponseSchema, { outboxes: described, ...busFields });
      },
      async republish({ outbox: name, after }) {
        const outbox = outboxes.find(({ schema }) => schema === name);
        if (!outbox) {
          const message = `There is no outbox ${name} here.`;
          throw new DaybookError("resource_not_found", message, { param: "outbox" });
        }
        const { rows, next } = await outbox.republish(
          after && { propertyId: toUuid(after.propertyId), id: toUuid(after.id) },
        );
        return create(RepublishResponseSchema, { republished: rows, ...(next ? { next } : {}) });
      },
      async retryDeadLetters({ consumer, messageId }) {
        if (messageId !== undefined && consumer === undefined) {
          const message = "Say which consumer gave the message up.";
          throw new DaybookError("parameter_missing", message, { param: "consumer" });
        }
        const { retried, isComplete } = await bus.retry(consumer, messageId).catch((error: unknown) => {
          if (!(error instanceof BusAwayError)) throw error;
          throw new DaybookError("service_unavailable", "The bus is away. Try again.", { cause: error });
        });
        return create(RetryDeadLettersResponseSchema, { retried, complete: isComplete });
      },
    });
  };
}

async function describeOutbox(outbox: OutboxRelay) {
  const { waiting, published, bytes, failing } = await outbox.describe();
  return {
    name: outbox.schema,
    unpublished: BigInt(waiting),
    published: BigInt(published),
    bytes: BigInt(bytes),
    failing: failing.map(({ id, subject, attempts, failure }) => ({
      messageId: id,
      subject,
      attempts,
      reason: failure,
    })),
  };
}

function describeState({ consumers, deadLetterCounts, deadLetters }: BusState) {
  return {
    consumers: consumers.map(({ consumer, subject, waiting, delivered, redelivered, oldestAt }) => ({
      name: consumer,
      subject,
      waiting: BigInt(waiting),
      delivered: BigInt(delivered),
      redelivered: BigInt(redelivered),
      oldestAt: toTimestamp(oldestAt),
      deadLetters: BigInt(deadLetterCounts.get(consumer) ?? 0),
    })),
    deadLetters: deadLetters.map(({ diedAt, ...letter }) => ({ ...letter, diedAt: toTimestamp(diedAt) })),
  };
}
