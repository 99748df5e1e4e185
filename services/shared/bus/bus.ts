/**
 * The bus: NATS JetStream when there is an address (nats/bus.ts), else in this process (local.ts). Delivery is at least
 * once and in any order. Consumers are idempotent: they recognise a repeated message by its id.
 */

/** A message of the bus. */
export interface BusMessage {
  /** A UUID that never changes, so that consumers recognise a repeat. */
  id: string;
  /** Such as `daybook.event.recorded`. */
  subject: string;
  /** A protobuf message; under 1 MB. */
  payload: Uint8Array;
}

/** Handles messages. They are acknowledged when it returns, and delivered again when it throws. */
export type BusHandler = (messages: readonly BusMessage[]) => Promise<void>;

/** The position of a stored message. */
export interface Place {
  /** Identifies one life of the stream; a recreated stream has another epoch. */
  epoch: string;
  sequence: number;
}

/** The outcome of publishing a message: acknowledged by all consumers, stored at a place, or an error. */
export type Published = "taken" | Place | Error;

/** The bus cannot be reached. This says nothing about the message. */
export class BusAwayError extends Error {
  constructor(cause: unknown) {
    super("the bus is away", { cause });
    this.name = "BusAwayError";
  }
}

/** What the stream holds, and what its consumers have acknowledged. */
export interface Progress {
  epoch: string;
  /** Messages below this sequence are gone. */
  firstSequence: number;
  /** The highest sequence of any message. */
  lastSequence: number;
  /** By subject, the low watermark that all of its consumers have acknowledged. Only subjects with consumers. */
  takenUpTo: ReadonlyMap<string, number>;
}

/** The backlog of a consumer. */
export interface ConsumerState {
  consumer: string;
  subject: string;
  /** Messages not yet delivered. */
  waiting: number;
  /** Messages delivered and not yet acknowledged. */
  delivered: number;
  /** The part of those that was delivered more than once. */
  redelivered: number;
  /** When the oldest unacknowledged message was published, in microseconds since 1970. */
  oldestAt: number | undefined;
}

/** A message that a consumer gave up after repeated failures. */
export interface DeadLetter {
  consumer: string;
  messageId: string;
  subject: string;
  reason: string;
  deliveries: number;
  /** When it was given up, in microseconds since 1970. */
  diedAt: number;
}

/** Returns the new payload of a dead letter, or undefined to keep it. */
export type RewriteLetter = (payload: Uint8Array) => Uint8Array | undefined;

/** What operators see of a bus. */
export interface BusState {
  consumers: ConsumerState[];
  /** By consumer. */
  deadLetterCounts: Map<string, number>;
  /** The oldest ones. */
  deadLetters: DeadLetter[];
}

export interface Bus {
  /** Publishes messages. @returns the outcome of each, in order. */
  publish(messages: readonly BusMessage[]): Promise<Published[]>;
  /**
   * Consumes every message of a subject.
   * @param consumer its name: processes of the same name share the messages, each other name gets them all.
   */
  subscribe(consumer: string, subject: string, handler: BusHandler): Promise<void>;
  /** @throws BusAwayError */
  progress(): Promise<Progress>;
  /** @throws BusAwayError */
  describe(): Promise<BusState>;
  /**
   * Delivers dead letters of one consumer, or of all, again to the consumers that gave them up.
   * @param messageId only the oldest of this message.
   * @returns how many; `isComplete` says whether those were all.
   * @throws BusAwayError
   */
  retry(consumer: string | undefined, messageId?: string): Promise<{ retried: number; isComplete: boolean }>;
  /**
   * Rewrites the dead letters of a subject.
   * @throws BusAwayError
   */
  rewriteDeadLetters(subject: string, rewrite: RewriteLetter): Promise<void>;
  /** Deletes acknowledged or replaced messages, because they may be personal. On failure, age deletes them. */
  forget(epoch: string, sequences: readonly number[]): Promise<void>;
  /** Changes with each reconnect: messages published before it may be lost. */
  readonly session: number;
  /** Ends the deliveries, and waits for running handlers. */
  close(): Promise<void>;
}
