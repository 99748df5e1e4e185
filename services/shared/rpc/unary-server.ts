/**
 * Serves what unary-client.ts sends, and whoever else sends a unary call of the Connect protocol as one binary message
 * without compression. All other forms of a call are left to Connect's own handlers.
 */
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { toBinary, type DescMethodUnary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJsonBytes, parseTimeout } from "@connectrpc/connect/protocol-connect";
import type { Log } from "../process/log.ts";
import type { Gate } from "./admission-hook.ts";
import {
  errorType,
  joined,
  messageType,
  parse,
  pathOf,
  toHeaders,
  tooLate,
  wasReset,
  type UnaryServer,
} from "./unary.ts";

/** The longest time of a timer. */
const timeoutMsMax = 2 ** 31 - 1;

/**
 * @param bytesMax of a request's message.
 * @returns a listener for streams, which tells whether it serves them.
 */
export function unaryListener(
  server: UnaryServer,
  gate: Gate,
  { bytesMax, log }: { bytesMax: number; log: Log },
): (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => boolean {
  const methods = new Map(server.methods.map((method) => [pathOf(method), method]));

  async function answer(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    method: DescMethodUnary,
    path: string,
  ): Promise<void> {
    const ended = new AbortController();
    const leave = (): void => ended.abort(new ConnectError("the caller has gone", Code.Canceled));
    stream.once("close", leave);
    let timer: NodeJS.Timeout | undefined;
    try {
      const refusal = await gate(headers, path.slice(1));
      if (refusal) throw new ConnectError(refusal.message, refusal.code);
      const { timeoutMs, error } = parseTimeout(headers["connect-timeout-ms"]?.toString() ?? null, timeoutMsMax);
      if (error) throw error;
      if (timeoutMs !== undefined) timer = setTimeout(() => ended.abort(tooLate()), timeoutMs);
      const { header, trailer, message } = await server.serve({
        method,
        input: parse(method.input, await readBody(stream, headers, bytesMax, ended.signal), Code.InvalidArgument),
        header: toHeaders(headers),
        signal: ended.signal,
        timeoutMs,
        url: path,
        protocolName: "connect",
      });
      for (const [name, value] of trailer) header.append(`trailer-${name}`, value);
      send(stream, 200, messageType, toBinary(method.output, message), Object.fromEntries(header));
    } finally {
      clearTimeout(timer);
      stream.off("close", leave);
    }
  }

  return (stream, headers) => {
    const path = headers[":path"] ?? "";
    const method = methods.get(path);
    const { "content-type": type, "content-encoding": encoding = "identity", expect } = headers;
    if (!method || headers[":method"] !== "POST" || type !== messageType || encoding !== "identity") return false;
    // A caller that waits to be told to go on.
    if (expect !== undefined) return false;
    // A caller that goes away is no error of ours.
    stream.on("error", () => undefined);
    answer(stream, headers, method, path).catch((failure: unknown) => {
      const error = failure instanceof ConnectError ? failure : new ConnectError("internal error", Code.Internal);
      if (error !== failure) log.error({ err: failure, method: method.name }, "a call could not be answered");
      send(stream, codeToHttpStatus(error.code), errorType, errorToJsonBytes(error, undefined));
    });
    return true;
  };
}

/** @throws ConnectError with `resource_exhausted` as soon as the message is known to be too large. */
function readBody(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  bytesMax: number,
  signal: AbortSignal,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = (): void =>
      reject(new ConnectError(`the message is larger than ${bytesMax} bytes`, Code.ResourceExhausted));
    if (Number(headers["content-length"] ?? 0) > bytesMax) return tooLarge();
    const chunks: Buffer[] = [];
    let bytes = 0;
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes <= bytesMax) return void chunks.push(chunk);
      stream.off("data", take).pause();
      tooLarge();
    };
    const leave = (): void => reject(signal.reason);
    const finish = (): void => {
      // The stream closes next, which ends the call.
      if (wasReset(stream)) return;
      signal.removeEventListener("abort", leave);
      resolve(joined(chunks));
    };
    if (signal.aborted) return leave();
    signal.addEventListener("abort", leave, { once: true });
    // An empty body ends without being read.
    if (stream.readableEnded) return finish();
    stream.on("data", take);
    stream.once("end", finish);
  });
}

function send(stream: ServerHttp2Stream, status: number, type: string, body: Uint8Array, headers = {}): void {
  if (stream.destroyed || stream.closed) return;
  stream.respond({ ...headers, ":status": status, "content-type": type, "content-length": body.length });
  stream.end(body, () => {
    // Nothing reads the rest of a request that was answered early.
    if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
  });
}
