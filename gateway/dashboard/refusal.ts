/** Refusals of the dashboard. Two have a code of their own that no service knows: `cross_origin`, `unknown_method`. */
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorSchema } from "#proto/daybook/common/v1/error_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";

/** A failed call with a code of ours. */
export function refusal(connect: Code, code: string, message: string): ConnectError {
  return new ConnectError(message, connect, undefined, [{ desc: ErrorSchema, value: { code, message } }]);
}

/** Nobody is signed in, or not any more. */
export function signInRequired(): DaybookError {
  return new DaybookError("sign_in_required", "You are not signed in, or your session has ended. Sign in.");
}

/** The sign-in is older than what a sensitive act allows. */
export function signInAgain(): DaybookError {
  return new DaybookError("sign_in_again", "Confirm that it is you: your last sign-in was a while ago.");
}

/** The same for methods that exist and methods that do not. */
export function unknownMethod(): ConnectError {
  return refusal(Code.Unimplemented, "unknown_method", "The dashboard has no such method.");
}

/** The same for properties that exist and properties that do not. */
export function noSuchProperty(): DaybookError {
  return new DaybookError("resource_not_found", "There is no such property.", { param: "property_id" });
}

/** @param right that the member lacks. */
export function missingRight(right: string): DaybookError {
  return new DaybookError("missing_scope", `Your role does not allow this: it lacks the right ${right}.`);
}
