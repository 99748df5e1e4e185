/** Errors on their way between services: as messages of RPCs, and as failures of calls. */
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorSchema, type Error as ErrorMessage } from "#proto/daybook/common/v1/error_pb.ts";
import { DaybookError, errorCatalogue, internalError, isErrorCode, serviceUnavailable } from "../values/errors.ts";

/** An error as a message of an RPC. */
export function toErrorMessage(error: DaybookError): ErrorMessage {
  return create(ErrorSchema, {
    code: error.code,
    message: error.message,
    param: error.param ?? undefined,
    retryAfterMs: error.retryAfterMs ?? undefined,
    errors: error.errors.map(({ code, message, param }) => ({ code, message, param: param ?? undefined })),
  });
}

/** The error that a message of an RPC stands for. */
export function fromErrorMessage(message: ErrorMessage): DaybookError {
  if (!isErrorCode(message.code)) return internalError(new Error(`unknown error code ${message.code}`));
  return new DaybookError(message.code, message.message, {
    param: message.param ?? null,
    retryAfterMs: message.retryAfterMs,
    errors: message.errors.map((field) => ({
      code: isErrorCode(field.code) ? field.code : "parameter_invalid",
      message: field.message,
      param: field.param ?? null,
    })),
  });
}

/** What a server answers to a call that failed with an error of ours or of anyone's. */
export function toConnectError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  const ours = error instanceof DaybookError ? error : internalError(error);
  return new ConnectError(ours.message, errorCatalogue[ours.code].connect, undefined, [
    { desc: ErrorSchema, value: toErrorMessage(ours) },
  ]);
}

/** The error of ours that a failed call stands for. */
export function fromConnectError(error: unknown): DaybookError {
  if (error instanceof DaybookError) return error;
  const connect = ConnectError.from(error);
  const [detail] = connect.findDetails(ErrorSchema);
  if (detail) return fromErrorMessage(detail);
  return connect.code === Code.Unavailable ||
    connect.code === Code.DeadlineExceeded ||
    connect.code === Code.Canceled ||
    connect.code === Code.Aborted ||
    // Without a detail it is not a caller's key that is wrong but our own credential, which can be set right.
    connect.code === Code.Unauthenticated ||
    isConnectionLost(connect)
    ? serviceUnavailable(error)
    : internalError(error);
}

// What @connectrpc/connect-node 2.2.0 says itself, in http2-session-manager.js, node-universal-client.js and node-error.js.
const connectionLostPattern =
  /^(?:http\/2 (?:stream|connection) closed with|expected open session, but|sentinel completed early)/;

/**
 * Whether a call failed because its connection ended: some of the ways in which HTTP/2 says so Connect knows as internal errors.
 * See connectErrorFromNodeReason and connectErrorFromH2ResetCode of @connectrpc/connect-node.
 */
function isConnectionLost(connect: ConnectError): boolean {
  if (connectionLostPattern.test(connect.rawMessage)) return true;
  for (let error: unknown = connect.cause; error instanceof Error; error = error.cause) {
    const { code } = error as { code?: unknown };
    if (typeof code === "string" && /^(ERR_HTTP2_|ERR_STREAM_|E[A-Z]+$)/.test(code)) return true;
  }
  return false;
}
