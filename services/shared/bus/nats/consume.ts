/** Delivery of a consumer's messages: batches, acknowledgements, retries and dead letters. */
import type { JetStreamClient, JsMsg } from "@nats-io/jetstream";
import { createBatcher } from "../../scheduling/batcher.ts";
import type { BusHandler, BusMessage } from "../bus.ts";
import { deliver, isAway } from "../delivery.ts";
import type { Log } from "../../process/log.ts";
import type { Acks } from "./acks.ts";
import { bury, isFor, messageIdOf } from "./dead-letters.ts";
import { ackWaitMs } from "./stream.ts";

/** Messages of one batch, and their bytes. */
export const handlerMessagesMax = 64;
const handlerBytesMax = 8 * 1024 * 1024;

const redeliverDelayMsMax = 30_000;
// Messages with a failure count. Beyond this the oldest count is dropped.
const refusedMessagesMax = 10_000;

/** How often, and after which delay, a failed message is retried. */
export interface RedeliveryLimits {
  /** Failures of its own after which a message becomes a dead letter. */
  failuresMax: number;
  /** The delay after the first failure. It doubles with each failure, up to 30 s. */
  redeliverDelayMsMin: number;
}

/**
 * Batches what arrives while the handler runs, and acknowledges after it returns. Failures because a dependency is away
 * do not count. The others are counted here because the server cannot tell the two apart; so a restart resets the
 * counts, and each process counts its own.
 */
export async function consume(
  client: JetStreamClient,
  acks: Acks,
  consumer: string,
  messages: AsyncIterable<JsMsg>,
  handler: BusHandler,
  limits: RedeliveryLimits,
  log: Log,
): Promise<void> {
  // All failures of each message, and those that a dependency did not cause.
  const refusalsOf = new Map<string, { refusals: number; failures: number }>();
  // Delivered, and neither acknowledged nor failed yet.
  const held = new Set<JsMsg>();
  const working = setInterval(() => {
    for (const message of held) message.working();
  }, ackWaitMs / 4);

  async function refuse(message: JsMsg, failure: Error): Promise<void> {
    const { deliveryCount, streamSequence } = message.info;
    const key = `${streamSequence} ${messageIdOf(message)}`;
    const count = refusalsOf.get(key) ?? { refusals: 0, failures: 0 };
    count.refusals++;
    if (!isAway(failure)) count.failures++;
    if (count.failures >= limits.failuresMax && (await isBuried(message, failure))) {
      refusalsOf.delete(key);
      return;
    }
    refusalsOf.set(key, count);
    const [oldest] = refusalsOf.keys();
    if (refusalsOf.size > refusedMessagesMax && oldest !== undefined) refusalsOf.delete(oldest);
    log.warn({ err: failure, deliveries: deliveryCount }, "a message was not taken and will come again");
    // The delay does not follow the delivery count because deliveries to killed processes are no failures.
    message.nak(Math.min(redeliverDelayMsMax, limits.redeliverDelayMsMin * 2 ** (count.refusals - 1)));
  }

  /** @returns whether the dead letter is stored; only then the message may be acknowledged. */
  async function isBuried(message: JsMsg, failure: Error): Promise<boolean> {
    const deliveries = message.info.deliveryCount;
    try {
      await bury(client, consumer, message, { failure, deliveries });
    } catch (error) {
      log.warn({ err: error }, "a message could not be put among the dead letters and will come again");
      return false;
    }
    acks.add([message]);
    log.error({ err: failure, deliveries, messageId: messageIdOf(message) }, "a message was given up: see bus status");
    return true;
  }

  const batcher = createBatcher<JsMsg, void>({
    async flush(_key, batch) {
      const outcomes = await deliver(batch.map(toBusMessage), handler);
      const taken = batch.filter((_, index) => outcomes[index] === undefined);
      acks.add(taken);
      for (const message of taken) {
        held.delete(message);
        if (refusalsOf.size > 0) refusalsOf.delete(`${message.info.streamSequence} ${messageIdOf(message)}`);
      }
      for (const [index, message] of batch.entries()) {
        const failure = outcomes[index];
        if (!failure) continue;
        held.delete(message);
        await refuse(message, failure);
      }
      return batch.map(() => undefined);
    },
    sizeOf: (message) => message.data.length,
    flushItemsMax: handlerMessagesMax,
    flushSizeMax: handlerBytesMax,
    flushesMax: 1,
    // Never full, because the server sends no more than was requested.
    queueItemsMax: Number.POSITIVE_INFINITY,
    queueFull: () => new Error("the consumer's queue is full"),
  });
  for await (const message of messages) {
    if (!isFor(message, consumer)) {
      message.ack();
      continue;
    }
    held.add(message);
    batcher
      .add("", message)
      .catch((error: unknown) => log.error({ err: error }, "a message could not be acknowledged"));
  }
  await batcher.drain();
  clearInterval(working);
}

function toBusMessage(message: JsMsg): BusMessage {
  return { id: messageIdOf(message), subject: message.subject, payload: message.data };
}
