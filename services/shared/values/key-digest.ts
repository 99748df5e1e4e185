/** What is stored of keys that callers choose, such as an Idempotency-Key or a dedupe_id: these may tell of a person, and outlive its redaction. */
import { hash } from "node:crypto";

/** The digest under which a caller's key is stored and looked up; from it nobody reads the key. */
export function digestOfKey(key: string): string {
  return hash("sha256", key, "base64url");
}
