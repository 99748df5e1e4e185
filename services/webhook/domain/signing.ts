/**
 * Signatures of messages: Standard Webhooks 1.0.0.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
import { createHmac, randomBytes } from "node:crypto";

const secretPrefix = "whsec_";
const secretBytes = 32;

/** Makes a secret: `whsec_` and base64 of 32 random bytes. */
export function newSecret(): string {
  return secretPrefix + randomBytes(secretBytes).toString("base64");
}

/**
 * Headers that the protocol or Daybook sets, in lower case, so that an endpoint has none of its own by these names.
 * Those that begin with `webhook-` or `daybook-` are Daybook's as well.
 */
export const reservedHeaders: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
]);

/** What is signed and sent once. */
export interface Signed {
  /** The `webhook-id`. */
  messageId: string;
  /** From 1. */
  attempt: number;
  /** In seconds since 1970. */
  timestamp: number;
  body: string;
  /** One, or two while it is rotated: the newest first. */
  secrets: readonly string[];
}

/** The headers of an attempt, besides those of the endpoint. */
export function signedHeaders({ messageId, attempt, timestamp, body, secrets }: Signed): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(secretPrefix.length), "base64");
    return `v1,${createHmac("sha256", key).update(`${messageId}.${timestamp}.`).update(body).digest("base64")}`;
  });
  return {
    "content-type": "application/json",
    "user-agent": "Daybook-Webhooks/1",
    "webhook-id": messageId,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatures.join(" "),
    "daybook-attempt": String(attempt),
  };
}
