/**
 * The bus: one interface, two homes. NATS JetStream when there is an address, else in this process. Delivery is at least once and in
 * any order; consumers know a message by its id. This is the only file that knows NATS.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { jetstream, jetstreamManager, type ConsumerMessages, type JsMsg } from "@nats-io/jetstream";
import { connect, nanos, type NatsConnection } from "@nats-io/transport-node";
import { createBatcher } from "./batcher.ts";
import type { Log } from "./log.ts";
import { repeat } from "./repeat.ts";

/** What goes over the bus. */
export interface BusMessage {
  /** Names the message for good, so that a consumer knows it again. A UUID. */
  id: string;
  /** Such as `daybook.event.recorded`. */
  subject: string;
  /** A protobuf message; under 1 MB. */
  payload: Uint8Array;
}

/** Takes messages. Once it returns they are taken for good; when it throws they come again. */
export type BusHandler = (messages: readonly BusMessage[]) => Promise<void>;

/** See the head of this file. */
export interface Bus {
  /**
   * Publishes messages.
   * @returns for each message, in order, undefined once it is safely with the bus, else why it is not.
   */
  publish(messages: readonly BusMessage[]): Promise<(Error | undefined)[]>;
  /**
   * Takes every message of a subject.
   * @param consumer names who takes them: processes of the same name share the messages, each other name gets them all.
   */
  subscribe(consumer: string, subject: string, handler: BusHandler): Promise<void>;
  /** Forgets the messages that every consumer has taken, so that what they say of persons stays with the services. Done by itself every minute. */
  trim(): Promise<void>;
  /** Ends the deliveries, waiting for the handlers that are at work. */
  close(): Promise<void>;
}

const handlerMessagesMax = 64;
const handlerBytesMax = 8 * 1024 * 1024;

/** A bus within the process: publishing waits for the handlers, so a message that is published has been taken. */
export function createLocalBus(log: Log): Bus {
  const subscriptions: { consumer: string; subject: string; handler: BusHandler }[] = [];
  return {
    async publish(messages) {
      const failures = messages.map((): Error | undefined => undefined);
      for (const { consumer, subject, handler } of subscriptions) {
        const indexes = messages.flatMap((message, index) => (message.subject === subject ? [index] : []));
        const wanted = indexes.map((index) => messages[index] as BusMessage);
        if (wanted.length === 0) continue;
        const outcomes = await deliver(wanted, handler);
        for (const [at, failure] of outcomes.entries()) {
          if (failure === undefined) continue;
          log.warn({ err: failure, consumer, subject }, "a message was not taken and will come again");
          failures[indexes[at] as number] = failure;
        }
      }
      return failures;
    },
    subscribe(consumer, subject, handler) {
      subscriptions.push({ consumer, subject, handler });
      return Promise.resolve();
    },
    // Nothing is kept.
    trim: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

const streamName = "daybook";
const streamAgeMaxMs = 7 * 24 * 60 * 60 * 1000;
const duplicateWindowMs = 2 * 60 * 1000;
const publishTimeoutMs = 5_000;
const ackWaitMs = 60_000;
const redeliverDelayMsMax = 30_000;
const trimIntervalMs = 60_000;

/**
 * A bus on NATS JetStream. The stream is made if it is missing. When the server goes away publishing fails, and goes on by itself
 * when it is back.
 */
export async function connectNatsBus(url: string, name: string, log: Log): Promise<Bus> {
  const connection = await connectPatiently(url, name);
  const client = jetstream(connection, { timeout: publishTimeoutMs });
  const deliveries: { messages: ConsumerMessages; finished: Promise<void> }[] = [];
  const trimming = repeat(trimIntervalMs, log, "forget messages", () => trimStream(connection));

  return {
    async publish(messages) {
      const outcomes = await Promise.allSettled(
        messages.map(({ id, subject, payload }) => client.publish(subject, payload, { msgID: id })),
      );
      const failures = outcomes.map((outcome) =>
        outcome.status === "fulfilled" ? undefined : asError(outcome.reason),
      );
      // A server that lost its store has no stream any more. What failed will be published again.
      if (failures.some((failure) => failure !== undefined)) {
        await ensureStream(connection).catch((error: unknown) => log.warn({ err: error }, "the stream cannot be made"));
      }
      return failures;
    },
    async subscribe(consumer, subject, handler) {
      const consumerLog = log.child({ consumer });
      await ensureConsumer(connection, consumer, subject);
      const source = await client.consumers.get(streamName, consumer);
      const messages = await source.consume({ max_messages: handlerMessagesMax * 2 });
      void restore(messages, () => ensureConsumer(connection, consumer, subject), consumerLog);
      deliveries.push({ messages, finished: consume(messages, handler, consumerLog) });
    },
    trim: () => trimStream(connection),
    async close() {
      await trimming.close();
      for (const { messages, finished } of deliveries) {
        // A server that is away cannot be told; what it delivered and was not acknowledged comes again.
        await messages.close().catch(() => undefined);
        await finished;
      }
      await connection.drain().catch(() => connection.close());
    },
  };
}

const startWaitMs = 60_000;
const startRetryMs = 250;

/** Waits up to a minute for a server that may start at the same time. */
async function connectPatiently(url: string, name: string): Promise<NatsConnection> {
  const deadline = Date.now() + startWaitMs;
  for (;;) {
    let connection: NatsConnection | undefined;
    try {
      connection = await connect({ servers: url, name, maxReconnectAttempts: -1, reconnectTimeWait: 500 });
      await ensureStream(connection);
      return connection;
    } catch (error) {
      await connection?.close();
      if (Date.now() > deadline) throw error;
      await sleep(startRetryMs);
    }
  }
}

async function trimStream(connection: NatsConnection): Promise<void> {
  const manager = await jetstreamManager(connection);
  const takenUpTo = new Map<string, number>();
  for await (const { config, ack_floor: floor } of manager.consumers.list(streamName)) {
    const { filter_subject: subject = ">" } = config;
    takenUpTo.set(subject, Math.min(takenUpTo.get(subject) ?? Number.MAX_SAFE_INTEGER, floor.stream_seq));
  }
  // Somebody else's consumer, of more than one subject: there is no telling what it has taken of each.
  if ([...takenUpTo.keys()].some((subject) => /[*>]/.test(subject))) return;
  for (const [filter, sequence] of takenUpTo) {
    if (sequence > 0) await manager.streams.purge(streamName, { filter, seq: sequence + 1 });
  }
}

async function ensureConsumer(connection: NatsConnection, consumer: string, subject: string): Promise<void> {
  await ensureStream(connection);
  const manager = await jetstreamManager(connection);
  await manager.consumers.add(streamName, {
    durable_name: consumer,
    filter_subject: subject,
    ack_policy: "explicit",
    deliver_policy: "all",
    ack_wait: nanos(ackWaitMs),
  });
}

const missing: ReadonlySet<string> = new Set([
  "consumer_deleted",
  "consumer_not_found",
  "heartbeats_missed",
  "no_responders",
  "stream_not_found",
]);

/** Makes the consumer again when a server that lost its store has it no more. The deliveries then go on by themselves. */
async function restore(messages: ConsumerMessages, ensure: () => Promise<void>, log: Log): Promise<void> {
  for await (const { type } of messages.status()) {
    if (!missing.has(type)) continue;
    await ensure().catch((error: unknown) => log.warn({ err: error, notice: type }, "the consumer cannot be made"));
  }
}

async function ensureStream(connection: NatsConnection): Promise<void> {
  const manager = await jetstreamManager(connection);
  // Adding a stream that is there with the same settings changes nothing, so any number of processes may do it at once.
  await manager.streams.add({
    name: streamName,
    subjects: [`${streamName}.>`],
    storage: "file",
    max_age: nanos(streamAgeMaxMs),
    duplicate_window: nanos(duplicateWindowMs),
  });
}

/** Gathers what arrives while the handler is at work, and acknowledges after it has returned. */
async function consume(messages: ConsumerMessages, handler: BusHandler, log: Log): Promise<void> {
  const batcher = createBatcher<JsMsg, void>({
    async flush(_key, batch) {
      const outcomes = await deliver(batch.map(toBusMessage), handler);
      for (const [index, message] of batch.entries()) {
        const failure = outcomes[index];
        if (failure === undefined) {
          message.ack();
          continue;
        }
        log.warn(
          { err: failure, deliveries: message.info.deliveryCount },
          "a message was not taken and will come again",
        );
        message.nak(Math.min(redeliverDelayMsMax, 250 * 2 ** message.info.deliveryCount));
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
    batcher
      .add("", message)
      .catch((error: unknown) => log.error({ err: error }, "a message could not be acknowledged"));
  }
  await batcher.drain();
}

/** Hands messages over together, and one by one when that fails, so that a bad one does not hold up the others. */
async function deliver(messages: readonly BusMessage[], handler: BusHandler): Promise<(Error | undefined)[]> {
  const together = await attempt(messages, handler);
  if (together === undefined || messages.length === 1) return messages.map(() => together);
  const failures: (Error | undefined)[] = [];
  for (const message of messages) failures.push(await attempt([message], handler));
  return failures;
}

async function attempt(messages: readonly BusMessage[], handler: BusHandler): Promise<Error | undefined> {
  try {
    await handler(messages);
    return undefined;
  } catch (error) {
    return asError(error);
  }
}

function toBusMessage(message: JsMsg): BusMessage {
  return { id: message.headers?.get("Nats-Msg-Id") ?? "", subject: message.subject, payload: message.data };
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
