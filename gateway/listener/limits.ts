/** What clients may take of the public listener, in one place. docs/reference/rate-limits.md says the same to users and operators. */

/** Connections, and the time that they may take. */
export interface ListenerLimits {
  /** Connections at a time. Those beyond are closed at once and unread, and counted. */
  connectionsMax: number;
  /** Of these, from one client address (IPv6: from one /64). A trusted proxy has no such limit. */
  connectionsPerAddressMax: number;
  /** For the headers to arrive, from the first byte of the connection or the end of the request before. */
  headersTimeoutMs: number;
  /** For the whole request to arrive. */
  requestTimeoutMs: number;
  /** For an answer to move: the connection is closed when its client has taken nothing of it for so long. */
  answerStalledMs: number;
  /** For a whole answer to be taken, however steadily it moves. */
  answerTimeoutMs: number;
  /** How often all of these are looked at. */
  timeoutsCheckMs: number;
}

/** The limits of every gateway; tests have others. */
export const listenerLimits: ListenerLimits = {
  connectionsMax: 10_000,
  connectionsPerAddressMax: 1_000,
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 30_000,
  answerStalledMs: 30_000,
  answerTimeoutMs: 600_000,
  timeoutsCheckMs: 2_000,
};

/** Bytes that requests and answers under way may take of a gateway's memory. */
export interface ByteLimits {
  /** Of bodies that are arriving or being worked on, of one key and of all. */
  bodyBytesPerKeyMax: number;
  bodyBytesMax: number;
  /** Of answers that clients have not taken yet, of one key and of all. */
  answerBytesPerKeyMax: number;
  answerBytesMax: number;
}

const mebibyte = 1024 * 1024;

/** The limits of every gateway unless its settings say otherwise. */
export const byteLimits: ByteLimits = {
  bodyBytesPerKeyMax: 64 * mebibyte,
  bodyBytesMax: 256 * mebibyte,
  answerBytesPerKeyMax: 128 * mebibyte,
  answerBytesMax: 512 * mebibyte,
};

/**
 * Lists stop at this share of the two limits of answers. A page may have 16 MB, and a key that leaves pages unread must still be able to record
 * events, whose answers are small.
 */
export const listShare = 1 / 4;

/** Pages of lists that are being made at a time. Those beyond wait, in their order. */
export interface PageLimits {
  pagesPerKeyMax: number;
  pagesMax: number;
  /** Requests that wait for their turn. */
  waitingPerKeyMax: number;
  waitingMax: number;
  /** For how long they wait. */
  waitMsMax: number;
}

/** The limits of every gateway; tests have others. */
export const pageLimits: PageLimits = {
  pagesPerKeyMax: 4,
  pagesMax: 12,
  waitingPerKeyMax: 200,
  waitingMax: 2_000,
  waitMsMax: 10_000,
};
