/** One attempt to send a message, and what became of it. */
import type { Uuid } from "#shared/values/ids.ts";
import type { Micros } from "#shared/values/clock.ts";

/** Why an attempt failed, by the names of the API. */
export type AttemptError =
  | "timeout"
  | "connection_refused"
  | "dns_error"
  | "tls_error"
  | "address_blocked"
  | "http_status"
  | "body_too_large";

/** Where and how an endpoint takes messages. */
export interface Target {
  endpointId: Uuid;
  url: string;
  /** `whsec_…`: one, or two while it is rotated, the newest first. */
  secrets: readonly string[];
  headers: readonly { name: string; value: string }[];
}

/** One attempt of a message. */
export interface SendRequest {
  target: Target;
  /** TypeID with prefix `whm`: the `webhook-id`. */
  messageId: string;
  /** JSON. */
  body: string;
  /** From 1. */
  attempt: number;
}

/** What became of an attempt. */
export interface AttemptResult {
  startedAt: Micros;
  durationMs: number;
  /** Of the answer; null without one. */
  status: number | null;
  /** Null for success: 2xx. */
  error: AttemptError | null;
  /** The first 1,024 characters of the answer if it failed. */
  excerpt: string;
  /** What the answer asks for by Retry-After. */
  retryAfterSeconds: number | null;
}
