/** The stream and its consumers on the server: creation, progress and deletion of messages. */
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
/** The prefix of the subjects of dead letters; the consumer's name follows. */
export const deadPrefix = "daybook.dead.";

const streamAgeMaxMs = 7 * 24 * 60 * 60 * 1000;
const duplicateWindowMs = 2 * 60 * 1000;
/**
 * A message without acknowledgement or sign of progress is redelivered after this. So messages of a killed process are
 * soon redelivered, and a handler may still run for longer.
 */
export const ackWaitMs = 3_000;
const apiTimeoutMs = 5_000;

/** A client of the JetStream API. */
export function managerOf(connection: NatsConnection, timeoutMs = apiTimeoutMs): Promise<JetStreamManager> {
  // The first request shows whether the server has JetStream.
  return jetstreamManager(connection, { checkAPI: false, timeout: timeoutMs });
}

/**
 * Creates the stream if it is missing. Safe for concurrent processes.
 * @param replicas how many servers store a new stream.
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

/** Changes the number of replicas of an existing stream. On failure it logs, and the stream keeps its number. */
export async function ensureReplicas(
  manager: JetStreamManager,
  { config, cluster }: StreamInfo,
  replicas: number | undefined,
  log: Log,
): Promise<void> {
  if (replicas === undefined || config.num_replicas === replicas) return;
  try {
    // A server without a cluster would accept the number and change nothing.
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

/** Creates a consumer if it is missing. */
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
    // The consumer exists with other limits; servers differ in whether `add` changes them.
    if (!(error instanceof JetStreamApiError)) throw error;
    await manager.consumers.update(streamName, consumer, limits);
  }
}

/** The durable consumers. Ephemeral ones, such as a watching operator's, are left out. */
export async function listConsumers(manager: JetStreamManager): Promise<ConsumerInfo[]> {
  const consumers: ConsumerInfo[] = [];
  for await (const info of manager.consumers.list(streamName)) {
    if (info.config.durable_name !== undefined) consumers.push(info);
  }
  return consumers;
}

/** Reads the progress of the consumers within one epoch. */
export async function readProgress(manager: JetStreamManager, replicas: number | undefined): Promise<Progress> {
  const { created, state } = await ensureStream(manager, replicas);
  const takenUpTo = floorsOf(await listConsumers(manager));
  // The stream may have been recreated between the two reads, and sequences of two epochs cannot be compared.
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
 * Deletes messages one by one. A purge up to a sequence would take one request, but servers before 2.9.15 then lose
 * track of delivered, unacknowledged messages above it and never redeliver them.
 * Source: https://github.com/nats-io/nats-server/pull/3892
 */
export async function forgetMessages(manager: JetStreamManager, sequences: readonly number[]): Promise<void> {
  for (let at = 0; at < sequences.length; at += forgottenAtOnce) {
    const chunk = sequences.slice(at, at + forgottenAtOnce);
    await Promise.all(
      chunk.map((sequence) =>
        manager.streams.deleteMessage(streamName, sequence).catch((error: unknown) => {
          if (!(error instanceof JetStreamApiError)) throw error;
        }),
      ),
    );
  }
}

/** The low watermark of each subject: the lowest acknowledged sequence of its consumers. */
function floorsOf(consumers: readonly ConsumerInfo[]): Map<string, number> {
  const floors = new Map<string, number>();
  for (const { config, ack_floor: floor } of consumers) {
    const { filter_subject: subject = ">" } = config;
    floors.set(subject, Math.min(floors.get(subject) ?? Number.MAX_SAFE_INTEGER, floor.stream_seq));
  }
  return floors;
}
