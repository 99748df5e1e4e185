/** Errors of the dashboard's RPCs, in the form of the Connect protocol: https://connectrpc.com/docs/protocol */
import { Code, ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJson } from "@connectrpc/connect/protocol-connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import { toConnectError } from "#shared/rpc/errors.ts";
import type { Log } from "#shared/process/log.ts";
import { takeError } from "../refusals.ts";

export function sendRpcError(log: Log, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const [connect, status] = toAnswer(log, error, request, reply);
  return reply
    .code(status)
    .type("application/json; charset=utf-8")
    .send(JSON.stringify(errorToJson(connect, undefined)));
}

function toAnswer(
  log: Log,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): readonly [ConnectError, number] {
  // Clients take 404 for a method that there is not.
  if (error instanceof ConnectError)
    return [error, error.code === Code.Unimplemented ? 404 : codeToHttpStatus(error.code)];
  const ours = takeError(log, error, request, reply);
  return [toConnectError(ours), ours.status];
}
