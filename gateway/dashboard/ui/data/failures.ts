/** What a failed call means for the person at the screen: what happened, what to do, and what to tell support. */
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorSchema } from "#proto/daybook/common/v1/error_pb.ts";

export interface Failure {
  title: string;
  /** What to do. */
  advice: string;
  /** As the API names it, such as `parameter_invalid`. */
  code?: string;
  requestId?: string;
  /** Field → what is wrong with it. */
  fields: ReadonlyMap<string, string>;
  /** Whether the same call can succeed later. */
  canRetry: boolean;
}

/** The code of the API that an error has, such as `sign_in_again`. */
export function errorCodeOf(error: unknown): string | undefined {
  return error instanceof ConnectError ? error.findDetails(ErrorSchema)[0]?.code : undefined;
}

const advice: Partial<Record<Code, { title: string; advice: string; canRetry?: true }>> = {
  [Code.NotFound]: { title: "Not found", advice: "It is not in this property, or it was deleted. Check the address." },
  [Code.PermissionDenied]: {
    title: "Your role does not allow this",
    advice: "Ask an admin of this property to change your role.",
  },
  [Code.Unauthenticated]: { title: "You are signed out", advice: "Sign in again." },
  [Code.ResourceExhausted]: { title: "Too many requests", advice: "Wait a moment, then retry.", canRetry: true },
  [Code.Unavailable]: {
    title: "Daybook does not answer",
    advice: "Check your connection, then retry. An operator sees the state of each process in Operate.",
    canRetry: true,
  },
  [Code.DeadlineExceeded]: {
    title: "This took too long",
    advice: "Retry, or ask for less: a shorter range or a narrower filter.",
    canRetry: true,
  },
};

export function failureOf(thrown: unknown): Failure {
  const error = ConnectError.from(thrown, Code.Unknown);
  const detail = error.findDetails(ErrorSchema)[0];
  const requestId = error.metadata.get("x-request-id") ?? undefined;
  const known = advice[networkCode(thrown) ?? error.code];
  const listed = detail?.errors.length ? detail.errors : detail ? [detail] : [];
  const fields = new Map(listed.flatMap(({ param, message }) => (param === undefined ? [] : [[param, message]])));
  return {
    title: known?.title ?? "This did not work",
    advice: detail?.message ?? known?.advice ?? "Retry. If it fails again, tell your operator the request id.",
    ...(detail && { code: detail.code }),
    ...(requestId !== undefined && { requestId }),
    fields,
    canRetry: known?.canRetry ?? (known === undefined && detail?.code !== "invalid_state_transition"),
  };
}

/** A browser without a connection throws a TypeError, which Connect takes for unknown. */
function networkCode(thrown: unknown): Code | undefined {
  const cause = thrown instanceof ConnectError ? thrown.cause : thrown;
  return cause instanceof TypeError ? Code.Unavailable : undefined;
}
