/**
 * The bus: one interface, two homes. NATS JetStream when there is an address (nats/bus.ts), else in this process. Delivery is at least once
 * and in any order; consumers know a message by its id, and one that comes again changes nothing.
 */

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

/** Where a message is kept until it is taken. */
export interface Place {
  /** Which stream: one that was lost and made again is another. */
  epoch: string;
  sequence: number;
}

/** What became of a message that was to be published: it is taken already, it is kept at its place, or why it is not with the bus. */
export type Published = "taken" | Place | Error;

/** The bus cannot be reached: nothing is wrong with the message. */
export class BusAwayError extends Error {
  constructor(cause: unknown) {
    super("the bus is away", { cause });
    this.name = "BusAwayError";
  }
}

/** How far the consumers are. */
export interface Progress {
  epoch: string;
  /** What is below this is kept no more. */
  firstSequence: number;
  /** The highest that was given to a message. */
  lastSequence: number;
  /** By subject, the sequence up to which all of its consumers have taken everything. Subjects without a consumer are not here. */
  takenUpTo: ReadonlyMap<string, number>;
}

/** How a consumer gets on. */
export interface ConsumerState {
  consumer: string;
  subject: string;
  /** Messages that were not delivered yet. */
  waiting: number;
  /** Messages that were delivered and are not taken: being worked at, or coming again later. */
  delivered: number;
  /** Of those, messages that were delivered more than once. */
  redelivered: number;
  /** When the oldest that is not taken was published; in microseconds since 1970. */
  oldestAt: number | undefined;
}

/** A message that a consumer failed to take time and again. */
export interface DeadLetter {
  consumer: string;
  messageId: string;
  subject: string;
  reason: string;
  deliveries: number;
  /** When it was given up; in microseconds since 1970. */
  diedAt: number;
}

/** Gives the payload of a dead letter as it is to be, or undefined when it is to stay. */
export type RewriteLetter = (payload: Uint8Array) => Uint8Array | undefined;

/** What operators see of a bus. */
export interface BusState {
  consumers: ConsumerState[];
  /** By consumer. */
  deadLetterCounts: Map<string, number>;
  /** The oldest of them. */
  deadLetters: DeadLetter[];
}

/** See the head of this file. */
export interface Bus {
  /**
   * Publishes messages.
   * @returns what became of each, in order.
   */
  publish(messages: readonly BusMessage[]): Promise<Published[]>;
  /**
   * Takes every message of a subject.
   * @param consumer names who takes them: processes of the same name share the messages, each other name gets them all.
   */
  subscribe(consumer: string, subject: string, handler: BusHandler): Promise<void>;
  /** @throws BusAwayError */
  progress(): Promise<Progress>;
  /** @throws BusAwayError */
  describe(): Promise<BusState>;
  /**
   * Gives dead letters, of all consumers or of one, back to the consumers that failed.
   * @returns how many; `isComplete` says whether those were all.
   * @throws BusAwayError
   */
  retry(consumer: string | undefined): Promise<{ retried: number; isComplete: boolean }>;
  /**
   * Rewrites the dead letters of a subject.
   * @param rewrite gives the payload as it is to be, or undefined for a letter that stays.
   * @throws BusAwayError
   */
  rewriteDeadLetters(subject: string, rewrite: RewriteLetter): Promise<void>;
  /**
   * Forgets messages that every consumer has taken, so that what they say of persons stays with the services, and those that others replace. One that
   * cannot be forgotten now is when the stream's age limit ends it.
   */
  forget(epoch: string, sequences: readonly number[]): Promise<void>;
  /** Changes whenever the bus was away in between: what was with it then may be lost. */
  readonly session: number;
  /** Ends the deliveries, waiting for the handlers that are at work. */
  close(): Promise<void>;
}
