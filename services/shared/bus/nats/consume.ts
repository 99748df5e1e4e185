/** Delivery of a consumer's messages: batches while the handler is at work, acknowledgement after it, and what becomes of failures. */
import type { JetStreamClient, JsMsg } from "@nats-io/jetstream";
import { createBatcher } from "../../scheduling/batcher.ts";
import type { BusHandler, BusMessage } from "../bus.ts";
import { deliver, isAway } from "../delivery.ts";
import type { Log } from "../../process/log.ts";
import type { Acks } from "./acks.ts";
import { bury, isFor, messageIdOf } from "./dead-letters.ts";
import { ackWaitMs } from "./stream.ts";

/** Messages that a handler is given at once, and their bytes. */
export const handlerMessagesMax = 64;
const handlerBytesMax = 8 * 1024 * 1024;

const redeliverDelayMsMax = 30_000;
// Messages whose refusals are counted at once. When there are more the count of the longest known begins again.
const refusedMessagesMax = 10_000;

/** When a message that fails comes again, and when it does not any more. */
export interface RedeliveryLimits {
  /** How often a message may fail by itself; then it is a dead letter. */
  failuresMax: number;
  /** After it was refused for the first time; it doubles with each refusal, up to half a minute. */
  redeliverDelayMsMin: number;
}

/**
 * Gathers what arrives while the handler is at work, and acknowledges after it has returned. A failure that means that something is away does not
 * count, however often. The others are counted here, not by the server, which does not tell the two apart; so a restart counts anew, and each
 * of several processes counts its own.
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
  // How often each was refused, and how often for a reason of its own.
  const refusalsOf = new Map<string, { refusals: number; failures: number }>();
  // Delivered, and not yet taken or refused.
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
    // Not by its deliveries: those to processes that were killed are no reason to wait.
    message.nak(Math.min(redeliverDelayMsMax, limits.redeliverDelayMsMin * 2 ** (count.refusals - 1)));
  }

  /** @returns whether the server has it among the dead letters; only then it may forget the message itself. */
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
    // The server sends no more than was asked for, so this is never reached.
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
