/**
 * The bus on NATS JetStream. A missing stream or consumer is created, also when a server returns without its store.
 * While the server is away publishing fails.
 */
import { jetstream, type ConsumerMessages, type JetStreamManager } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";
import type { Registry } from "prom-client";
import { BusAwayError, type Bus, type BusMessage, type ConsumerState, type Published } from "../bus.ts";
import { asError } from "../delivery.ts";
import type { Log } from "../../process/log.ts";
import { handleInSpan } from "../../tracing/messages.ts";
import { createAcks } from "./acks.ts";
import { connectPatiently, watch, type Connecting } from "./connect.ts";
import { consume, handlerMessagesMax, type RedeliveryLimits } from "./consume.ts";
import {
  countDeadLetters,
  describeDeadLetters,
  nameMessage,
  nextOf,
  retryDeadLetters,
  rewriteDeadLetters,
} from "./dead-letters.ts";
import { signedMessages } from "./forged.ts";
import { measureConsumers } from "./metrics.ts";
import type { Signer } from "./signature.ts";
import {
  ensureConsumer,
  ensureReplicas,
  ensureStream,
  forgetMessages,
  listConsumers,
  managerOf,
  readProgress,
  streamName,
} from "./stream.ts";

export interface NatsBusOptions extends Connecting {
  /** Signs published messages. Consumers get no unsigned ones. */
  signer: Signer;
  /** How many servers store a message. Unset, a new stream has 1 and an existing one keeps its number. */
  replicas?: number | undefined;
  redelivery?: RedeliveryLimits;
  signal?: AbortSignal;
  registry: Registry;
}

const publishTimeoutMs = 5_000;
// Each pull for messages ends after this time and is repeated. It also bounds how long a lost consumer is unnoticed.
const pullTimeoutMs = 5_000;
const metricsTimeoutMs = 1_000;
const redeliveryDefault: RedeliveryLimits = { failuresMax: 10, redeliverDelayMsMin: 500 };

/** Waits for a server without a time limit; nats/open.ts returns a bus at once. @throws AbortError */
export async function connectNatsBus(options: NatsBusOptions): Promise<Bus> {
  const { replicas, redelivery = redeliveryDefault, signer, log, registry } = options;
  const connection = await connectPatiently(options, {
    away: "NATS is away: messages wait in the outboxes until it is there",
    signal: options.signal,
    prepare: async (made) => {
      const at = await managerOf(made);
      await ensureReplicas(at, await ensureStream(at, replicas), replicas, log);
    },
  });
  const manager = await managerOf(connection);
  measureConsumers(registry, await managerOf(connection, metricsTimeoutMs));
  const client = jetstream(connection, { timeout: publishTimeoutMs });
  const acks = createAcks(connection);
  const deliveries: { messages: ConsumerMessages; finished: Promise<void> }[] = [];
  const state = watch(connection);
  // As read after the last publish.
  let epoch: string | undefined;

  function checkConnected(): void {
    if (!state.isConnected) throw new BusAwayError(new Error("no server is connected"));
  }

  /** @throws BusAwayError when the server does not answer. */
  async function askServer<T>(ask: () => Promise<T>): Promise<T> {
    checkConnected();
    try {
      return await ask();
    } catch (error) {
      throw new BusAwayError(error);
    }
  }

  const readEpoch = (): Promise<string> => askServer(async () => (await ensureStream(manager, replicas)).created);

  /** @returns the sequence of the published message. */
  async function publishOne({ id, subject, payload }: BusMessage): Promise<number> {
    // The client adds the id to these headers.
    const first = await client.publish(subject, payload, { msgID: id, headers: signer.sign(subject, payload) });
    if (!first.duplicate) return first.seq;
    // For a duplicate id the server returns the sequence of the first message, even if that one was purged, if somebody
    // else used the id, or if a redaction has rewritten the payload since. So the stored message must be this one,
    // signed.
    const kept = await manager.streams.getMessage(streamName, { seq: first.seq });
    const isSame = kept?.subject === subject && Buffer.from(kept.data).equals(payload);
    if (isSame && signer.isSigned({ subject, data: kept.data, headers: kept.header })) return first.seq;
    return (await client.publish(subject, payload, { headers: nameMessage(signer.sign(subject, payload), id) })).seq;
  }

  return {
    async publish(messages) {
      try {
        // Without this check each message would wait for its timeout.
        checkConnected();
        const before = epoch ?? (await readEpoch());
        const outcomes = await Promise.allSettled(messages.map(publishOne));
        // This recreates the stream of a server that lost its store. Sequences are valid only if the epoch did not
        // change meanwhile; else the messages are published again.
        epoch = await readEpoch();
        const current = epoch;
        return outcomes.map((outcome): Published => {
          if (outcome.status === "rejected") return classify(outcome.reason);
          if (before !== current) return new BusAwayError(new Error("the stream was made anew meanwhile"));
          return { epoch: current, sequence: outcome.value };
        });
      } catch (error) {
        return messages.map(() => asError(error));
      }
    },
    async subscribe(consumer, subject, handler) {
      const consumerLog = log.child({ consumer });
      const ensure = (): Promise<void> => ensureConsumer(manager, consumer, subject, replicas);
      await ensure();
      const source = await client.consumers.get(streamName, consumer);
      const messages = await source.consume({ max_messages: handlerMessagesMax * 2, expires: pullTimeoutMs });
      void restore(messages, ensure, consumerLog);
      const signed = signedMessages(messages, { consumer, client, acks, signer, registry, log: consumerLog });
      const handle = handleInSpan(consumer, subject, handler);
      const finished = consume(client, acks, consumer, signed, handle, redelivery, consumerLog);
      deliveries.push({ messages, finished });
    },
    progress: () => askServer(() => readProgress(manager, replicas)),
    describe: () =>
      askServer(async () => ({
        consumers: await describeConsumers(manager),
        deadLetterCounts: await countDeadLetters(manager),
        deadLetters: await describeDeadLetters(manager),
      })),
    retry: (consumer, messageId) => askServer(() => retryDeadLetters(client, manager, consumer, messageId)),
    rewriteDeadLetters: (subject, rewrite) =>
      askServer(() => rewriteDeadLetters({ client, manager, signer }, subject, rewrite)),
    async forget(made, sequences) {
      // In another epoch these sequences belong to other messages.
      if (made !== epoch) return;
      await forgetMessages(manager, sequences).catch((error: unknown) =>
        log.warn({ err: error }, "messages that were taken stay with the server for now"),
      );
    },
    get session() {
      return state.session;
    },
    async close() {
      for (const { messages, finished } of deliveries) {
        // This fails while the server is away. It redelivers what was not acknowledged.
        await messages.close().catch(() => undefined);
        await finished;
      }
      await acks.close();
      await connection.drain().catch(() => connection.close());
    },
  };
}

const missing: ReadonlySet<string> = new Set([
  "consumer_deleted",
  "consumer_not_found",
  "heartbeats_missed",
  "no_responders",
  "stream_not_found",
]);

/** Recreates the consumer when a server lost it. The deliveries then continue by themselves. */
async function restore(messages: ConsumerMessages, ensure: () => Promise<void>, log: Log): Promise<void> {
  for await (const { type } of messages.status()) {
    if (!missing.has(type)) continue;
    await ensure().catch((error: unknown) => log.warn({ err: error, notice: type }, "the consumer cannot be made"));
  }
}

/** An invalid message or a forbidden subject is the message's fault. Any other failure means that the bus is away. */
function classify(reason: unknown): Error {
  const isRefused =
    reason instanceof errors.InvalidArgumentError ||
    reason instanceof errors.InvalidSubjectError ||
    reason instanceof errors.PermissionViolationError;
  return isRefused ? reason : new BusAwayError(reason);
}

async function describeConsumers(manager: JetStreamManager): Promise<ConsumerState[]> {
  const states: ConsumerState[] = [];
  for (const { name, config, ack_floor: floor, ...info } of await listConsumers(manager)) {
    const { filter_subject: subject = ">" } = config;
    const isIdle = info.num_pending + info.num_ack_pending === 0;
    const oldest = isIdle ? null : await manager.streams.getMessage(streamName, nextOf(subject, floor.stream_seq + 1));
    states.push({
      consumer: name,
      subject,
      waiting: info.num_pending,
      delivered: info.num_ack_pending,
      redelivered: info.num_redelivered,
      oldestAt: oldest ? oldest.time.getTime() * 1000 : undefined,
    });
  }
  return states;
}
