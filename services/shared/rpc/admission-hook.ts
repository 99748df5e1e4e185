/** Admits or refuses each call of a listener, by its headers. */
import type { Http2ServerResponse, IncomingHttpHeaders } from "node:http2";
import { Code } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Counter, type Registry } from "prom-client";
import type { Log } from "../process/log.ts";
import { metricOf } from "../process/metrics.ts";
import type { Admit, Refusal } from "./admission.ts";
import { callerHeader } from "./interceptors.ts";

const statusOf: Record<Refusal["code"], number> = {
  [Code.Unauthenticated]: 401,
  [Code.PermissionDenied]: 403,
  [Code.Unavailable]: 503,
};

/**
 * Admits a call by its headers, which name its internal client from then on, whatever the client says that it is.
 * @param method as for Admit.
 * @returns why it was refused.
 */
export type Gate = (headers: IncomingHttpHeaders, method: string | undefined) => Promise<Refusal | undefined>;

/** Counts the calls of internal clients, and logs refusals. */
export function createGate(admit: Admit, { log, registry }: { log: Log; registry: Registry }): Gate {
  const calls = metricOf(registry, Counter, {
    name: "daybook_rpc_client_calls_total",
    help: "Calls of internal clients, and of those that may not make them.",
    labelNames: ["client", "method", "outcome"],
  });

  return async (headers, method) => {
    const { refusal, client } = await admit(headers.authorization, method);
    if (client !== undefined) {
      calls.inc({ client, method: method ?? "", outcome: refusal ? "refused" : "admitted" });
      headers[callerHeader] = `client:${client}`;
    }
    if (refusal) log.debug({ method, client, reason: refusal.message }, "a call was not admitted");
    return refusal;
  };
}

/** An onRequest hook. */
export function admissionHook(gate: Gate) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    // The route that was found, because a path can be spelt in several ways.
    const refusal = await gate(request.raw.headers, request.routeOptions.url?.slice(1));
    if (refusal) await refuse(request, reply, refusal);
  };
}

/** Answers in the protocol of the caller, because a gRPC client shows no message of another. */
async function refuse(request: FastifyRequest, reply: FastifyReply, { code, message }: Refusal): Promise<void> {
  const type = request.headers["content-type"] ?? "";
  const { stream } = reply.raw as unknown as Http2ServerResponse;
  if (type.startsWith("application/grpc") && !stream.destroyed) {
    reply.hijack();
    // An answer of nothing but headers, which Fastify cannot send: its status is where others have their trailers.
    const grpc = { "content-type": type, "grpc-status": String(code), "grpc-message": encodeURI(message) };
    stream.respond({ ":status": 200, ...grpc }, { endStream: true });
  } else {
    await reply.code(statusOf[code]).send({ code: codeToString(code), message });
  }
}
