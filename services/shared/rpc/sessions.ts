/**
 * The HTTP/2 connections of a client to one address, and the retry of refused calls. Every call between processes goes
 * through `request`, so calls could be spread over several connections here.
 */
import { constants, type ClientHttp2Session, type ClientSessionOptions } from "node:http2";
import type { Interceptor } from "@connectrpc/connect";
import { Http2SessionManager } from "@connectrpc/connect-node";

export type Sessions = Pick<Http2SessionManager, "authority" | "request" | "notifyResponseByteRead">;

/** Connects to `url` with the first call, and again when the server has ended the connection. */
export function createSessions(url: string, options: ClientSessionOptions): Sessions {
  const manager = new Http2SessionManager(url, undefined, options);
  const guarded = new WeakSet<ClientHttp2Session>();

  /**
   * connect-node 2.2.0 destroys an idle connection with an error on GOAWAY, and may remove its own listener before Node
   * emits that error, which would end the process. This listener stays.
   * Source: https://github.com/connectrpc/connect-es/issues/1768
   */
  function guard(session: ClientHttp2Session): void {
    if (guarded.has(session)) return;
    guarded.add(session);
    session.on("error", () => undefined);
  }

  return {
    authority: manager.authority,
    notifyResponseByteRead: (stream) => manager.notifyResponseByteRead(stream),
    async request(method, path, headers, requestOptions) {
      const stream = await manager.request(method, path, headers, requestOptions);
      const { session } = stream;
      if (session) {
        guard(session as ClientHttp2Session);
        stream.once("error", () => {
          // The next call takes a new connection; running calls continue on this one.
          if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) session.close();
        });
      }
      return stream;
    },
  };
}

/**
 * Retries a call once when its connection refused it, as a closing connection does: by RFC 9113, 8.7 the server has not
 * processed it. Calls that may have been processed are never retried.
 */
export const repeatRefused: Interceptor = (next) => async (request) => {
  try {
    return await next(request);
  } catch (error) {
    // The messages of a stream can be read only once.
    if (request.stream || request.signal.aborted || !wasRefused(error)) throw error;
    return next(request);
  }
};

function wasRefused(failure: unknown): boolean {
  for (let error = failure; error instanceof Error; error = error.cause) {
    const { code } = error as { code?: unknown };
    if (code === "ERR_HTTP2_GOAWAY_SESSION") return true;
    // Node gives the reason of a reset only in the message.
    if (code === "ERR_HTTP2_STREAM_ERROR" && error.message.includes("NGHTTP2_REFUSED_STREAM")) return true;
  }
  return false;
}
