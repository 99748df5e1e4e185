/** Revision 2026-05-01: errors as in the getting-started guide, `{error: {code, message, field, request_id}}`. */
import type { DaybookError } from "#shared/values/errors.ts";

export const changes: readonly string[] = [
  "The first revision. Errors have the form {error: {code, message, field, request_id}}.",
];

const codeOfStatus: Readonly<Record<number, string>> = {
  400: "validation_error",
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  413: "validation_error",
  415: "validation_error",
  422: "validation_error",
  429: "rate_limit_exceeded",
  500: "internal_error",
  503: "upstream_error",
};

/** The guide has 502 for `upstream_error`. */
export function statusOf({ status }: DaybookError): number {
  return status === 503 ? 502 : status;
}

/** Errors that the guide does not know keep their own code. */
export function renderError(error: DaybookError, requestId: string): object {
  const code = codeOfStatus[error.status] ?? error.code;
  const field = code === "validation_error" ? error.param : null;
  return { error: { code, message: error.message, field, request_id: requestId } };
}
