/** One connection to an endpoint, for one request at a time. */
import type { Socket } from "node:net";
import { Client, type buildConnector, type Dispatcher } from "undici";
import { ConnectFailure } from "./connect.ts";

/** What came back. */
export interface Answer {
  status: number;
  /** The value of Retry-After. */
  retryAfter: string | undefined;
  /** The beginning of the body, as it came. */
  beginning: Buffer;
  /** The body went on beyond the limit, and was cut. */
  isCut: boolean;
  isEncoded: boolean;
}

/** The answer is not HTTP, or more than is read. */
export class AnswerFailure extends Error {}

/** A connection that was used before broke before anything of the answer came: the other side had closed it. */
export class StaleConnection extends Error {}

/** What is sent. */
export interface Exchange {
  path: string;
  headers: Record<string, string>;
  body: string;
  /** Aborted when the attempt has taken too long. */
  signal: AbortSignal;
}

const headerBytesMax = 16 * 1024;
const bodyBytesMax = 64 * 1024;
const beginningBytesMax = 4 * 1024;
// Of the answer as it comes: also informational answers, chunk sizes, trailers, and what TLS adds.
const wireBytesMax = 256 * 1024;
const informationalMax = 8;
const idleMs = 15_000;
const idleMsMax = 60_000;

export interface Connection {
  exchange(exchange: Exchange): Promise<Answer>;
  /** Whether it can take another request. */
  readonly isOpen: boolean;
  destroy(): void;
}

/**
 * Makes a connection, which is opened by the first request.
 * @param origin protocol, host and port.
 * @param onClosed is called when it is closed, by either side.
 */
export function createConnection(
  origin: string,
  connector: buildConnector.connector,
  onClosed: () => void,
): Connection {
  let socket: Socket | undefined;
  let isClosed = false;
  let isUsed = false;
  let wireBytesEnd = wireBytesMax;
  const watch: buildConnector.connector = (options, callback) => {
    connector(options, (...args) => {
      const [, opened] = args;
      if (opened) {
        socket = opened;
        opened.on("readable", () => {
          if (opened.bytesRead > wireBytesEnd) opened.destroy(new AnswerFailure("the answer is too large"));
        });
      }
      callback(...args);
    });
  };
  const client = new Client(origin, {
    connect: watch,
    allowH2: false,
    pipelining: 1,
    // The attempt has a timer of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: headerBytesMax,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMsMax,
  });
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    void client.destroy().catch(() => undefined);
    onClosed();
  };
  client.on("disconnect", close).on("connectionError", close);

  function exchange({ path, headers, body, signal }: Exchange): Promise<Answer> {
    const wasUsed = isUsed;
    isUsed = true;
    wireBytesEnd = (socket?.bytesRead ?? 0) + wireBytesMax;
    return new Promise((resolve, reject) => {
      const reader = createReader(resolve, (error, hasBegun) => {
        const isStale = wasUsed && !hasBegun && !signal.aborted && !(error instanceof AnswerFailure);
        reject(isStale ? new StaleConnection("the connection was closed", { cause: error }) : error);
      });
      const abort = (): void => {
        reject(signal.reason as Error);
        close();
      };
      if (signal.aborted) return abort();
      signal.addEventListener("abort", abort, { once: true });
      reader.onSettled = () => signal.removeEventListener("abort", abort);
      client.dispatch({ path, method: "POST", headers, body, idempotent: false }, reader.handler);
    });
  }

  return {
    exchange,
    get isOpen() {
      return !isClosed;
    },
    destroy: close,
  };
}

interface Reader {
  handler: Dispatcher.DispatchHandler;
  onSettled: () => void;
}

/** Reads an answer within its limits. */
function createReader(resolve: (answer: Answer) => void, reject: (error: Error, hasBegun: boolean) => void): Reader {
  let informational = 0;
  let bodyBytes = 0;
  let hasBegun = false;
  let answer: Answer | undefined;
  const reader: Reader = {
    onSettled: () => undefined,
    handler: {
      onRequestStart: () => undefined,
      onResponseStarted() {
        hasBegun = true;
      },
      onResponseStart(controller, status, headers) {
        if (status < 200) {
          informational++;
          if (informational > informationalMax) controller.abort(new AnswerFailure("too many informational answers"));
          return;
        }
        const retryAfter = headers["retry-after"];
        answer = {
          status,
          retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
          beginning: Buffer.alloc(0),
          isCut: false,
          isEncoded: headers["content-encoding"] !== undefined,
        };
      },
      onResponseData(controller, chunk) {
        if (!answer || answer.isCut) return;
        bodyBytes += chunk.length;
        const missing = beginningBytesMax - answer.beginning.length;
        if (missing > 0) answer.beginning = Buffer.concat([answer.beginning, chunk.subarray(0, missing)]);
        if (bodyBytes <= bodyBytesMax) return;
        answer.isCut = true;
        reader.onSettled();
        resolve(answer);
        controller.abort(new AnswerFailure("the answer is too large"));
      },
      onResponseEnd() {
        reader.onSettled();
        if (answer) resolve(answer);
      },
      onResponseError(_controller, error) {
        reader.onSettled();
        reject(isUnreadable(error) ? new AnswerFailure("the answer is not HTTP", { cause: error }) : error, hasBegun);
      },
    },
  };
  return reader;
}

const unreadable: ReadonlySet<unknown> = new Set([
  "UND_ERR_HEADERS_OVERFLOW",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  "UND_ERR_INVALID_ARG",
]);

function isUnreadable(error: Error): boolean {
  if (error instanceof AnswerFailure || error instanceof ConnectFailure) return false;
  const { code, name, message } = error as Error & { code?: unknown };
  // Parser errors have codes of the parser, such as HPE_INVALID_CONSTANT.
  return unreadable.has(code) || name === "HTTPParserError" || message === "bad response" || message === "bad upgrade";
}
