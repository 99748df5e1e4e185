/** Errors in the form of OAuth (RFC 6749, section 5.2). */
import type { errors as Errors } from "oidc-provider";
import { DaybookError } from "#shared/values/errors.ts";
import { errors } from "./library.ts";

/** What a failed call to a service is to an app: it should try again where that can help. */
export function asOAuthError(error: unknown): unknown {
  if (!(error instanceof DaybookError) || !["service_unavailable", "request_timeout"].includes(error.code))
    return error;
  return oauthError(503, "temporarily_unavailable", "Daybook does not answer just now. Try again.", error);
}

export function tooManyRequests(message: string): Errors.OIDCProviderError {
  return oauthError(429, "temporarily_unavailable", message);
}

function oauthError(status: number, code: string, description: string, cause?: unknown): Errors.OIDCProviderError {
  const error = new errors.OIDCProviderError(status, code, { cause });
  error.expose = true;
  error.error_description = description;
  return error;
}
