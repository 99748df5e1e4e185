import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { DaybookError } from "./errors.ts";
import { fromConnectError, toConnectError } from "../rpc/errors.ts";

const caused = (code: string): ConnectError =>
  new ConnectError(
    "New streams cannot be created",
    Code.Internal,
    undefined,
    undefined,
    Object.assign(new Error(), { code }),
  );

test.each([
  ["a session that was told to go away", caused("ERR_HTTP2_GOAWAY_SESSION")],
  ["a session that ended", caused("ERR_HTTP2_INVALID_SESSION")],
  ["a stream that broke", caused("ERR_STREAM_PREMATURE_CLOSE")],
  ["a socket that broke", caused("EPIPE")],
  [
    "a session that was closed",
    new ConnectError("http/2 connection closed with error code PROTOCOL_ERROR (0x1)", Code.Internal),
  ],
  [
    "a session that ended as it was made",
    new ConnectError("expected open session, but it is destroyed", Code.Internal),
  ],
  ["nobody there", new ConnectError("connect ECONNREFUSED", Code.Unavailable)],
  ["no answer in time", new ConnectError("the operation timed out", Code.DeadlineExceeded)],
])("%s can be tried again", (_name, error) => {
  expect(fromConnectError(error)).toMatchObject({ code: "service_unavailable", retryable: true });
});

test.each([
  ["a failure of the service", new ConnectError("it failed", Code.Internal)],
  ["what is not there", new ConnectError("not there", Code.Unimplemented)],
])("%s is an internal error", (_name, error) => {
  expect(fromConnectError(error).code).toBe("internal_error");
});

test("what a service refuses comes as it was", () => {
  const error = new DaybookError("identity_conflict", "Taken.", { param: "identifiers.0" });
  expect(fromConnectError(toConnectError(error))).toMatchObject({ code: "identity_conflict", param: "identifiers.0" });
});
