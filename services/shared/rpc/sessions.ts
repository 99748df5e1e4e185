/**
 * The HTTP/2 connections of a client to one address, and what becomes of a call that a connection refused. Every call between processes goes
 * through `request` here, so this is also the place to spread calls over several connections.
 */
import { constants, type ClientHttp2Session, type ClientSessionOptions } from "node:http2";
import type { Interceptor } from "@connectrpc/connect";
import { Http2SessionManager } from "@connectrpc/connect-node";

/** What a transport of connect-node needs to make calls. */
export type Sessions = Pick<Http2SessionManager, "authority" | "request" | "notifyResponseByteRead">;

/** Connects to `url` with its first call, and again whenever the server has ended the connection. */
export function createSessions(url: string, options: ClientSessionOptions): Sessions {
  const manager = new Http2SessionManager(url, undefined, options);
  const guarded = new WeakSet<ClientHttp2Session>();

  /**
   * connect-node 2.2.0 destroys an idle connection with an error when the server says GOAWAY, and may take its own listener off before Node
   * raises that error, which would then end the process. This listener stays.
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
          // The next call takes a new connection; those under way on this one go on.
          if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) session.close();
        });
      }
      return stream;
    },
  };
}

/**
 * Repeats a call once when its connection refused it, as one does that is about to end: by RFC 9113, 8.7 the server has done nothing of it. A
 * call that may have been done is never repeated.
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
    // Node tells the reason of a reset only in its message.
    if (code === "ERR_HTTP2_STREAM_ERROR" && error.message.includes("NGHTTP2_REFUSED_STREAM")) return true;
  }
  return false;
}
