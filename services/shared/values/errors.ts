/** The error type, its catalogue, and the mapping of its codes to HTTP and Connect. */
import { Code } from "@connectrpc/connect";

/** The closed set of error types that a client sees. */
export type ErrorType =
  | "invalid_request"
  | "authentication_error"
  | "authorization_error"
  | "idempotency_error"
  | "conflict"
  | "not_found"
  | "rate_limit_error"
  | "precondition_failed"
  | "provider_error"
  | "internal_error";

interface CatalogueEntry {
  status: number;
  type: ErrorType;
  connect: Code;
  /** Whether the same request can succeed later. */
  retryable?: true;
}

const invalidRequest = { status: 400, type: "invalid_request", connect: Code.InvalidArgument } as const;
const impossibleChange = { status: 422, type: "invalid_request", connect: Code.FailedPrecondition } as const;

export const errorCatalogue = {
  parameter_missing: invalidRequest,
  parameter_invalid: invalidRequest,
  parameter_unknown: invalidRequest,
  parameter_conflict: invalidRequest,
  invalid_id: invalidRequest,
  invalid_cursor: invalidRequest,
  invalid_json: invalidRequest,
  invalid_event_type: invalidRequest,
  invalid_revision: invalidRequest,
  reserved_event_type: invalidRequest,
  unsupported_filter: invalidRequest,
  unsupported_sort: invalidRequest,
  unsupported_expand: invalidRequest,
  unsupported_group_by: invalidRequest,
  too_many_items: invalidRequest,
  invalid_path: invalidRequest,
  url_not_allowed: invalidRequest,
  not_an_array: invalidRequest,
  bad_request: invalidRequest,
  request_timeout: { ...invalidRequest, status: 408, connect: Code.DeadlineExceeded, retryable: true },
  request_too_large: { ...invalidRequest, status: 413 },
  unsupported_media_type: { ...invalidRequest, status: 415 },
  method_not_allowed: { ...invalidRequest, status: 405 },
  invalid_api_key: { status: 401, type: "authentication_error", connect: Code.Unauthenticated },
  sign_in_required: { status: 401, type: "authentication_error", connect: Code.Unauthenticated },
  wrong_password: { status: 401, type: "authentication_error", connect: Code.Unauthenticated },
  unknown_member: { status: 401, type: "authentication_error", connect: Code.Unauthenticated },
  sign_in_again: { status: 403, type: "authorization_error", connect: Code.PermissionDenied },
  missing_scope: { status: 403, type: "authorization_error", connect: Code.PermissionDenied },
  resource_not_found: { status: 404, type: "not_found", connect: Code.NotFound },
  identity_conflict: { status: 409, type: "conflict", connect: Code.AlreadyExists },
  metric_exists: { status: 409, type: "conflict", connect: Code.AlreadyExists },
  idempotency_key_in_use: { status: 409, type: "idempotency_error", connect: Code.Aborted, retryable: true },
  idempotency_key_reused: { status: 409, type: "idempotency_error", connect: Code.AlreadyExists },
  not_ready: { status: 409, type: "conflict", connect: Code.FailedPrecondition, retryable: true },
  download_expired: { ...invalidRequest, status: 410, connect: Code.FailedPrecondition },
  precondition_failed: { status: 412, type: "precondition_failed", connect: Code.FailedPrecondition },
  profile_redacted: impossibleChange,
  invalid_state_transition: impossibleChange,
  last_identifier: impossibleChange,
  metric_read_only: impossibleChange,
  identifier_suppressed: impossibleChange,
  rate_limited: { status: 429, type: "rate_limit_error", connect: Code.ResourceExhausted, retryable: true },
  internal_error: { status: 500, type: "internal_error", connect: Code.Internal, retryable: true },
  service_unavailable: { status: 503, type: "internal_error", connect: Code.Unavailable, retryable: true },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;

/** A field at fault. */
export interface FieldError {
  code: ErrorCode;
  message: string;
  /** Dotted path from the root of the body or batch item; null when no single field is at fault. */
  param: string | null;
}

// Codes of conditions that end within moments.
const soonAgain: ReadonlySet<ErrorCode> = new Set(["service_unavailable", "idempotency_key_in_use"]);
const soonAgainMs = 1000;

/** The most fields at fault that an answer lists. */
export const fieldErrorsMax = 20;

/**
 * Every refusal and failure. The message is public: it is sent to the caller unchanged and has no secret, SQL, stack or
 * host. The cause is private: it is only logged.
 */
export class DaybookError extends Error {
  readonly code: ErrorCode;
  readonly param: string | null;
  /** Every field at fault, at most 20; empty when only one thing is wrong. */
  readonly errors: readonly FieldError[];
  /** When to retry, in milliseconds; only for retryable codes. */
  readonly retryAfterMs: number | null;

  constructor(
    code: ErrorCode,
    message: string,
    options: { param?: string | null; errors?: readonly FieldError[]; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "DaybookError";
    this.code = code;
    this.param = options.param ?? null;
    this.errors = (options.errors ?? []).slice(0, fieldErrorsMax);
    this.retryAfterMs = options.retryAfterMs ?? (soonAgain.has(code) ? soonAgainMs : null);
  }

  /** Returns the error with other names of its fields. */
  withParams(rename: (param: string) => string): DaybookError {
    const renamed = <Fault extends Pick<FieldError, "message" | "param">>(fault: Fault): Fault => {
      if (fault.param === null) return fault;
      const param = rename(fault.param);
      // The message names the field too.
      return { ...fault, message: fault.message.replaceAll(`\`${fault.param}\``, `\`${param}\``), param };
    };
    const { message, param } = renamed({ message: this.message, param: this.param });
    return new DaybookError(this.code, message, {
      param,
      errors: this.errors.map(renamed),
      cause: this.cause,
      retryAfterMs: this.retryAfterMs ?? undefined,
    });
  }

  /** Makes the error of fields at fault, with the code and the message of the first. @throws RangeError without any. */
  static ofFields(errors: readonly FieldError[]): DaybookError {
    const [first] = errors;
    if (!first) throw new RangeError("no field is at fault");
    return new DaybookError(first.code, first.message, {
      param: first.param,
      errors: errors.length > 1 ? errors : [],
    });
  }

  get status(): number {
    return errorCatalogue[this.code].status;
  }

  get type(): ErrorType {
    return errorCatalogue[this.code].type;
  }

  get retryable(): boolean {
    return "retryable" in errorCatalogue[this.code];
  }
}

/** Throws if there are faults. @throws DaybookError with every field at fault. */
export function checkFaults(faults: readonly FieldError[]): void {
  if (faults.length > 0) throw DaybookError.ofFields(faults);
}

/** The error of a dependency that is down or too slow, for a retry after a second. */
export function serviceUnavailable(cause: unknown): DaybookError {
  return new DaybookError("service_unavailable", "The service is not available for the moment. Try again.", { cause });
}

/** The error of an unexpected failure. */
export function internalError(cause: unknown): DaybookError {
  return new DaybookError("internal_error", "Something went wrong on our side. Try again.", { cause });
}

/**
 * Awaits work that may be refused.
 * @returns its result, or the refusal. Other errors are thrown.
 */
export async function settle<T>(work: Promise<T>): Promise<T | DaybookError> {
  return work.catch(refusalOf);
}

/** As settle, for synchronous work. */
export function settleNow<T>(work: () => T): T | DaybookError {
  try {
    return work();
  } catch (error) {
    return refusalOf(error);
  }
}

function refusalOf(error: unknown): DaybookError {
  if (error instanceof DaybookError) return error;
  throw error;
}

/** Whether a text is one of the catalogue's codes. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code);
}
