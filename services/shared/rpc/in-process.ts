/**
 * Calls between services of one process. They run the interceptors of calls over HTTP/2, but without HTTP, credential
 * and serialisation, so a sender must not touch a message after the call. Tests cover both ways.
 */
import { create } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import type { Registry } from "prom-client";
import { serverInterceptors, tellCall } from "./interceptors.ts";
import type { Log } from "../process/log.ts";
import type { Routes } from "../process/service.ts";
import { createUnaryServer, pathOf, refuseStream, untilEnded } from "./unary.ts";

/** Calls `routes` within this process. It supports unary methods only. */
export function inProcessTransport(routes: Routes, log: Log, registry: Registry): Transport {
  const server = createUnaryServer(routes, [tellCall, ...serverInterceptors(log, registry)]);
  return {
    async unary(method, signal, timeoutMs, header, input, contextValues) {
      const serve = (ended: AbortSignal) =>
        server.serve({
          method,
          input: create(method.input, input),
          header: new Headers(header),
          contextValues,
          signal: ended,
          timeoutMs,
          url: `in-process:${pathOf(method)}`,
          protocolName: "in-process",
        });
      return (await untilEnded(serve, timeoutMs, signal)) as never;
    },
    stream: refuseStream,
  };
}
