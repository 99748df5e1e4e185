/**
 * Unary calls, within a process and over HTTP/2: how an implementation serves a call, and how long its caller waits.
 * Connect's own handlers and transports run each call as streams, for three protocols, and were measured at more than
 * twice the CPU of unary-client.ts and unary-server.ts, and at eight times that of in-process.ts.
 */
import { constants, type Http2Stream, type IncomingHttpHeaders } from "node:http2";
import {
  create,
  fromBinary,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  type Message,
  type MessageShape,
} from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createContextValues,
  type ConnectRouter,
  type ContextValues,
  type HandlerContext,
  type Interceptor,
  type UnaryResponse,
} from "@connectrpc/connect";
import type { Routes } from "../process/service.ts";

export type AnyFn = Parameters<Interceptor>[0];

type Implementation = (input: Message, context: HandlerContext) => Promise<Record<string, unknown>>;

/** A call as it arrives. */
interface IncomingCall {
  method: DescMethodUnary;
  input: Message;
  header: Headers;
  contextValues?: ContextValues | undefined;
  /** Aborted when the caller has gone, or at the deadline. */
  signal: AbortSignal;
  /** Time until the deadline. */
  timeoutMs: number | undefined;
  url: string;
  protocolName: string;
}

/** Serves calls of the methods that it has. */
export interface UnaryServer {
  methods: readonly DescMethodUnary[];
  serve(call: IncomingCall): Promise<UnaryResponse>;
}

/** @param interceptors the first is the outermost. */
export function createUnaryServer(routes: Routes, interceptors: readonly Interceptor[]): UnaryServer {
  const implementations = collectImplementations(routes);
  return {
    methods: [...implementations.keys()],
    async serve({ method, input, header, contextValues, signal, timeoutMs, url, protocolName }) {
      const implementation = implementations.get(method);
      if (!implementation) throw new ConnectError(`${method.name} is not implemented`, Code.Unimplemented);
      const startMs = performance.now();
      const call: AnyFn = async (request) => {
        const context: HandlerContext = {
          method,
          service: method.parent,
          signal: request.signal,
          timeoutMs: () => (timeoutMs === undefined ? undefined : startMs + timeoutMs - performance.now()),
          requestMethod: request.requestMethod,
          requestHeader: request.header,
          responseHeader: new Headers(),
          responseTrailer: new Headers(),
          protocolName,
          values: request.contextValues,
          url: request.url,
        };
        const output = await implementation(request.message as Message, context);
        return {
          stream: false,
          service: method.parent,
          method,
          header: context.responseHeader,
          trailer: context.responseTrailer,
          message: create(method.output, output as never),
        };
      };
      const response = intercept(
        interceptors,
        call,
      )({
        stream: false,
        service: method.parent,
        method,
        requestMethod: "POST",
        url,
        signal,
        header,
        contextValues: contextValues ?? createContextValues(),
        message: input,
      });
      return (await response) as UnaryResponse;
    },
  };
}

/** @returns `call` with interceptors around it; the first is the outermost. */
export function intercept(interceptors: readonly Interceptor[], call: AnyFn): AnyFn {
  return interceptors.reduceRight((next, interceptor) => interceptor(next), call);
}

/** The path of a method, and the end of its URL. */
export function pathOf({ parent, name }: DescMethodUnary): string {
  return `/${parent.typeName}/${name}`;
}

/** Of a binary message of the Connect protocol, and of its errors. */
export const messageType = "application/proto";
export const errorType = "application/json";

/** Headers as node:http2 gives them, without its pseudo-headers. */
export function toHeaders(received: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received)) {
    if (name.startsWith(":") || value === undefined) continue;
    headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  return headers;
}

/** Whether a stream that ends was cut: node:http2 ends what it reads of a stream also when the other side resets it. */
export function wasReset(stream: Http2Stream): boolean {
  return stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR;
}

/** @throws ConnectError with this code if the bytes are no message of the type. */
export function parse<D extends DescMessage>(type: D, bytes: Uint8Array, code: Code): MessageShape<D> {
  try {
    return fromBinary(type, bytes);
  } catch (error) {
    throw ConnectError.from(error, code);
  }
}

/** A body of its chunks, without a copy of a single one. */
export function joined(chunks: readonly Buffer[]): Buffer {
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

export function tooLate(): ConnectError {
  return new ConnectError("the call took too long", Code.DeadlineExceeded);
}

/** Transports have unary methods only, because no service has another. */
export function refuseStream(method: { name: string }): never {
  throw new ConnectError(`${method.name} is not a unary method`, Code.Unimplemented);
}

/**
 * Waits for a response until the deadline or the caller's cancellation, which abort the call's signal.
 * @param call starts with that signal.
 */
export async function untilEnded<T>(
  call: (signal: AbortSignal) => Promise<T>,
  timeoutMs: number | undefined,
  signal: AbortSignal | undefined,
): Promise<T> {
  const ended = new AbortController();
  const early = Promise.withResolvers<never>();
  const end = (reason: ConnectError): void => {
    ended.abort(reason);
    early.reject(reason);
  };
  const leave = (): void => end(ConnectError.from(signal?.reason, Code.Canceled));
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => end(tooLate()), timeoutMs);
  if (signal?.aborted) leave();
  signal?.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([call(ended.signal), early.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", leave);
  }
}

function collectImplementations(routes: Routes): Map<DescMethodUnary, Implementation> {
  const implementations = new Map<DescMethodUnary, Implementation>();
  const collector: ConnectRouter = {
    handlers: [],
    service(service, implementation) {
      for (const method of service.methods) {
        const handler = implementation[method.localName as keyof typeof implementation] as Implementation | undefined;
        if (isUnary(method) && handler) implementations.set(method, handler);
      }
      return collector;
    },
    rpc() {
      throw new Error("services are registered whole");
    },
  };
  routes(collector);
  return implementations;
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}
