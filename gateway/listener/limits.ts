/** Limits of the public listener. docs/reference/rate-limits.md documents them for users and operators. */

export interface ListenerLimits {
  /** Open connections. Further ones are closed unread and counted. */
  connectionsMax: number;
  /** Connections of one client address (IPv6: one /64). Trusted proxies have no such limit. */
  connectionsPerAddressMax: number;
  /** Time for the headers to arrive from a request's first byte, and for a new connection to send that byte. */
  headersTimeoutMs: number;
  /** Time for the whole request to arrive. */
  requestTimeoutMs: number;
  /** Time without progress of an answer, after which the connection is closed. */
  answerStalledMs: number;
  /** Time for a client to read a whole answer, even if it makes progress. */
  answerTimeoutMs: number;
  /** Interval of the timeout checks. */
  timeoutsCheckMs: number;
}

export const listenerLimits: ListenerLimits = {
  connectionsMax: 10_000,
  connectionsPerAddressMax: 1_000,
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 30_000,
  answerStalledMs: 30_000,
  answerTimeoutMs: 600_000,
  timeoutsCheckMs: 2_000,
};

/** Limits of a gateway's memory for requests and answers under way. */
export interface ByteLimits {
  /** Bodies arriving or in processing, of one key and of all. */
  bodyBytesPerKeyMax: number;
  bodyBytesMax: number;
  /** Answers that clients have not read yet, of one key and of all. */
  answerBytesPerKeyMax: number;
  answerBytesMax: number;
}

const mebibyte = 1024 * 1024;

/** Defaults of the settings. */
export const byteLimits: ByteLimits = {
  bodyBytesPerKeyMax: 64 * mebibyte,
  bodyBytesMax: 256 * mebibyte,
  answerBytesPerKeyMax: 128 * mebibyte,
  answerBytesMax: 512 * mebibyte,
};

/**
 * List pages may use this share of the two answer limits. A page may have 16 MB, and a key that leaves pages unread
 * must still be able to record events, whose answers are small.
 */
export const listShare = 1 / 4;

/** List pages made at a time. Further ones wait in a queue. */
export interface PageLimits {
  pagesPerKeyMax: number;
  pagesMax: number;
  /** Queued requests. */
  waitingPerKeyMax: number;
  waitingMax: number;
  /** Maximum time in the queue. */
  waitMsMax: number;
}

export const pageLimits: PageLimits = {
  pagesPerKeyMax: 4,
  pagesMax: 12,
  waitingPerKeyMax: 200,
  waitingMax: 2_000,
  waitMsMax: 10_000,
};

/** Limits of streams of what is kept of a person. */
export interface ExportLimits {
  /** Streams at the same time, of one key or installation and of all. */
  exportsPerCallerMax: number;
  exportsMax: number;
  /** Time for a client to read a whole stream, even if it makes progress. */
  exportTimeoutMs: number;
}

export const exportLimits: ExportLimits = {
  exportsPerCallerMax: 4,
  exportsMax: 16,
  exportTimeoutMs: 3_600_000,
};
