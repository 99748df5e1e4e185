/** Keys of events that are to be there once for their profile and type. */
import { createHash } from "node:crypto";

/** Whose an event is: the UUID of a profile, or the identifier of an anonymous one. */
export type Whose = string | { type: string; value: string };

/**
 * The key of a unique_id. It is a digest, as it stays for good: nobody can read from it what the unique_id was, nor whose.
 * @param type in normal form.
 */
export function uniqueKey(whose: Whose, type: string, uniqueId: string): string {
  const owner = typeof whose === "string" ? [whose] : [whose.type, whose.value];
  return createHash("sha256")
    .update(JSON.stringify([owner, type, uniqueId]))
    .digest("base64url");
}
