/** Conversions of errors: to messages of RPCs and to failed calls, and back. */
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorSchema, type Error as ErrorMessage } from "#proto/daybook/common/v1/error_pb.ts";
import { DaybookError, errorCatalogue, internalError, isErrorCode, serviceUnavailable } from "../values/errors.ts";

export function toErrorMessage(error: DaybookError): ErrorMessage {
  return create(ErrorSchema, {
    code: error.code,
    message: error.message,
    param: error.param ?? undefined,
    retryAfterMs: error.retryAfterMs ?? undefined,
    errors: error.errors.map(({ code, message, param }) => ({ code, message, param: param ?? undefined })),
  });
}

/** The error of a message. An unknown code becomes an internal error. */
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

/** Converts any error to the failure of a call. */
export function toConnectError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  const ours = error instanceof DaybookError ? error : internalError(error);
  return new ConnectError(ours.message, errorCatalogue[ours.code].connect, undefined, [
    { desc: ErrorSchema, value: toErrorMessage(ours) },
  ]);
}

/** Converts the failure of a call to a DaybookError. */
export function fromConnectError(error: unknown): DaybookError {
  if (error instanceof DaybookError) return error;
  const connect = ConnectError.from(error);
  const [detail] = connect.findDetails(ErrorSchema);
  if (detail) return fromErrorMessage(detail);
  return connect.code === Code.Unavailable ||
    connect.code === Code.DeadlineExceeded ||
    connect.code === Code.Canceled ||
    connect.code === Code.Aborted ||
    // Without a detail our own credential is wrong, not a caller's key. A new configuration can fix it.
    connect.code === Code.Unauthenticated ||
    isConnectionLost(connect)
    ? serviceUnavailable(error)
    : internalError(error);
}

// Messages of @connectrpc/connect-node 2.2.0: http2-session-manager.js, node-error.js.
const connectionLostPattern = /^(?:http\/2 connection closed with|expected open session, but)/;

/**
 * Whether a call failed because there was no connection for it, which connect-node reports as an internal error. See
 * its connectErrorFromNodeReason.
 */
function isConnectionLost(connect: ConnectError): boolean {
  if (connectionLostPattern.test(connect.rawMessage)) return true;
  for (let error: unknown = connect.cause; error instanceof Error; error = error.cause) {
    const { code } = error as { code?: unknown };
    if (typeof code === "string" && /^(ERR_HTTP2_|ERR_STREAM_|E[A-Z]+$)/.test(code)) return true;
  }
  return false;
}
