/** The stream and its consumers, as the server keeps them: made when they are missing, looked at, and rid of what was taken. */
import {
  jetstreamManager,
  JetStreamApiCodes,
  JetStreamApiError,
  type ConsumerInfo,
  type JetStreamManager,
  type StreamInfo,
} from "@nats-io/jetstream";
import { nanos, type NatsConnection } from "@nats-io/transport-node";
import type { Progress } from "../bus.ts";
import { asError } from "../delivery.ts";
import type { Log } from "../../process/log.ts";

/** The one stream of all subjects. */
export const streamName = "daybook";
/** Subjects of messages that a consumer has given up begin so; its name follows. */
export const deadPrefix = "daybook.dead.";

const streamAgeMaxMs = 7 * 24 * 60 * 60 * 1000;
const duplicateWindowMs = 2 * 60 * 1000;
/**
 * A message that is neither taken nor said to be worked at for so long is delivered again: so soon after a process was killed somebody else has
 * what it had in hand. One that is worked at may take as long as it needs.
 */
export const ackWaitMs = 3_000;
const apiTimeoutMs = 5_000;

/** Asks a server about JetStream; whoever has less time says so. */
export function managerOf(connection: NatsConnection, timeoutMs = apiTimeoutMs): Promise<JetStreamManager> {
  // Whether there is JetStream shows with the first question.
  return jetstreamManager(connection, { checkAPI: false, timeout: timeoutMs });
}

/**
 * Makes the stream if it is missing. Any number of processes may do so at once.
 * @param replicas how many servers keep it, if it is made.
 */
export async function ensureStream(manager: JetStreamManager, replicas = 1): Promise<StreamInfo> {
  try {
    return await manager.streams.info(streamName);
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.code !== JetStreamApiCodes.StreamNotFound) throw error;
  }
  return manager.streams.add({
    name: streamName,
    subjects: [`${streamName}.>`],
    storage: "file",
    max_age: nanos(streamAgeMaxMs),
    duplicate_window: nanos(duplicateWindowMs),
    num_replicas: replicas,
  });
}

/** Gives a stream that is there another number of replicas, if the server can. It goes on without, as it did before. */
export async function ensureReplicas(
  manager: JetStreamManager,
  { config, cluster }: StreamInfo,
  replicas: number | undefined,
  log: Log,
): Promise<void> {
  if (replicas === undefined || config.num_replicas === replicas) return;
  try {
    // One that is alone would take the number and change nothing.
    if (replicas > 1 && !cluster) throw new Error("the server is in no cluster");
    await manager.streams.update(streamName, { num_replicas: replicas });
    log.info({ before: config.num_replicas, now: replicas }, "the stream has another number of replicas now");
  } catch (error) {
    log.error(
      { reason: asError(error).message, wanted: replicas, kept: config.num_replicas },
      "NATS_REPLICAS cannot be fulfilled: the stream goes on with as many replicas as it has",
    );
  }
}

/** Makes a consumer if it is missing. */
export async function ensureConsumer(
  manager: JetStreamManager,
  consumer: string,
  subject: string,
  replicas: number | undefined,
): Promise<void> {
  await ensureStream(manager, replicas);
  const limits = { ack_wait: nanos(ackWaitMs) };
  try {
    await manager.consumers.add(streamName, {
      durable_name: consumer,
      filter_subject: subject,
      ack_policy: "explicit",
      deliver_policy: "all",
      ...limits,
    });
  } catch (error) {
    // One that another release made with other limits is changed; servers differ in whether they do so by themselves.
    if (!(error instanceof JetStreamApiError)) throw error;
    await manager.consumers.update(streamName, consumer, limits);
  }
}

/** The consumers that keep their place, each with its subject. What looks on for a while (an ephemeral consumer) is not among them. */
export async function listConsumers(manager: JetStreamManager): Promise<ConsumerInfo[]> {
  const consumers: ConsumerInfo[] = [];
  for await (const info of manager.consumers.list(streamName)) {
    if (info.config.durable_name !== undefined) consumers.push(info);
  }
  return consumers;
}

/** How far the consumers are, all of it in one epoch. */
export async function readProgress(manager: JetStreamManager, replicas: number | undefined): Promise<Progress> {
  const { created, state } = await ensureStream(manager, replicas);
  const takenUpTo = floorsOf(await listConsumers(manager));
  // Sequences of one stream say nothing of another, which may have taken its place between the two looks.
  const again = await manager.streams.info(streamName);
  if (again.created !== created) throw new Error("the stream was made anew between two looks");
  return {
    epoch: created,
    firstSequence: state.first_seq,
    lastSequence: again.state.last_seq,
    takenUpTo,
  };
}

const forgottenAtOnce = 64;

/**
 * Deletes messages one by one. To purge a subject up to a sequence would take one request, but makes servers before 2.9.15 forget which messages
 * beyond it they have delivered and not seen acknowledged: those would never come again.
 * Source: https://github.com/nats-io/nats-server/pull/3892
 */
export async function forgetMessages(manager: JetStreamManager, sequences: readonly number[]): Promise<void> {
  for (let at = 0; at < sequences.length; at += forgottenAtOnce) {
    const some = sequences.slice(at, at + forgottenAtOnce);
    await Promise.all(
      some.map((sequence) =>
        manager.streams.deleteMessage(streamName, sequence).catch((error: unknown) => {
          // Gone already.
          if (!(error instanceof JetStreamApiError)) throw error;
        }),
      ),
    );
  }
}

/** By subject, the lowest sequence up to which one of its consumers has taken everything. */
function floorsOf(consumers: readonly ConsumerInfo[]): Map<string, number> {
  const floors = new Map<string, number>();
  for (const { config, ack_floor: floor } of consumers) {
    const { filter_subject: subject = ">" } = config;
    floors.set(subject, Math.min(floors.get(subject) ?? Number.MAX_SAFE_INTEGER, floor.stream_seq));
  }
  return floors;
}
