/** Digests of callers' keys, such as an Idempotency-Key: keys may be personal, and outlive a redaction. */
import { hash } from "node:crypto";

/** The digest under which a key is stored: SHA-256 in base64url. */
export function digestOfKey(key: string): string {
  return hash("sha256", key, "base64url");
}
