/**
 * Unary calls of the Connect protocol over HTTP/2: one binary message each way, without compression.
 * Source: https://connectrpc.com/docs/protocol#unary-request
 */
import { constants, type ClientHttp2Stream, type IncomingHttpHeaders } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createContextValues,
  type Interceptor,
  type Transport,
  type UnaryResponse,
} from "@connectrpc/connect";
import { codeFromHttpStatus, errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import type { Connections } from "./sessions.ts";
import {
  errorType,
  intercept,
  joined,
  messageType,
  parse,
  pathOf,
  refuseStream,
  toHeaders,
  untilEnded,
  wasReset,
  type AnyFn,
} from "./unary.ts";

interface Answer {
  headers: IncomingHttpHeaders;
  body: Uint8Array;
}

/**
 * Calls over these connections. Trailers of a response stand among its headers, with their prefix `trailer-`.
 * @param interceptors the first is the outermost.
 */
export function unaryTransport(connections: Connections, interceptors: readonly Interceptor[]): Transport {
  const call = intercept(interceptors, async (request) => {
    if (request.stream) return refuseStream(request.method);
    const { method, header, signal, message } = request;
    const body = toBinary(method.input, message);
    // With its length a call that we give up half-sent is no whole one for the server: node:http2 ends it regularly.
    header.set("content-length", String(body.length));
    const stream = await connections.request("POST", pathOf(method), Object.fromEntries(header), {});
    const answer = await exchange(stream, body, signal, () => connections.notifyResponseByteRead(stream));
    const response: UnaryResponse = {
      stream: false,
      service: method.parent,
      method,
      header: toHeaders(answer.headers),
      trailer: new Headers(),
      message: parse(method.output, bodyOf(answer), Code.Internal),
    };
    return response;
  });
  return {
    async unary(method, signal, timeoutMs, header, input, contextValues) {
      const send = (ended: AbortSignal): ReturnType<AnyFn> => {
        const sent = new Headers(header);
        sent.set("content-type", messageType);
        sent.set("connect-protocol-version", "1");
        if (timeoutMs !== undefined) sent.set("connect-timeout-ms", String(Math.ceil(timeoutMs)));
        return call({
          stream: false,
          service: method.parent,
          method,
          requestMethod: "POST",
          url: connections.authority + pathOf(method),
          signal: ended,
          header: sent,
          contextValues: contextValues ?? createContextValues(),
          message: create(method.input, input),
        });
      };
      return (await untilEnded(send, timeoutMs, signal)) as never;
    },
    stream: refuseStream,
  };
}

/** Sends a request's body, and reads the whole answer. */
function exchange(
  stream: ClientHttp2Stream,
  sent: Uint8Array,
  signal: AbortSignal,
  noteRead: () => void,
): Promise<Answer> {
  const answered = Promise.withResolvers<Answer>();
  stream.on("error", (error) => answered.reject(lost(error)));
  const chunks: Buffer[] = [];
  let headers: IncomingHttpHeaders | undefined;
  const leave = (): void => {
    stream.close(constants.NGHTTP2_CANCEL);
    answered.reject(signal.reason);
  };
  if (signal.aborted) {
    leave();
    return answered.promise;
  }
  signal.addEventListener("abort", leave, { once: true });
  stream.once("response", (received) => {
    headers = received;
  });
  stream.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    noteRead();
  });
  const cut = (): void => answered.reject(lost(undefined));
  stream.once("close", cut);
  stream.once("end", () => {
    if (!headers || wasReset(stream)) return;
    stream.off("close", cut);
    signal.removeEventListener("abort", leave);
    answered.resolve({ headers, body: joined(chunks) });
  });
  stream.end(sent);
  return answered.promise;
}

/** @throws ConnectError as which the server answered. */
function bodyOf({ headers, body }: Answer): Uint8Array {
  const status = Number(headers[":status"]);
  const { "content-type": type, "content-encoding": encoding = "identity" } = headers;
  if (status === 200 && type === messageType && encoding === "identity") return body;
  const error =
    status === 200
      ? new ConnectError(`the answer is ${type}, ${encoding}`, Code.Internal)
      : new ConnectError(`HTTP ${status}`, codeFromHttpStatus(status));
  throw status !== 200 && type?.startsWith(errorType) ? errorFromJsonBytes(body, undefined, error) : error;
}

function lost(cause: unknown): ConnectError {
  const reason = cause instanceof Error ? cause.message : "the stream was closed";
  return new ConnectError(`the call was cut off: ${reason}`, Code.Unavailable, undefined, undefined, cause);
}
