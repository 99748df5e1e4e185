/** Keys of events that are unique for their profile and type. */
import { createHash } from "node:crypto";

/** The owner of an event: the UUID of a profile, or the identifier of an anonymous event. */
export type Whose = string | { type: string; value: string };

/**
 * The key of a unique_id. It is a digest, because it is never deleted and must not reveal the unique_id or its owner.
 * @param type in normal form.
 */
export function uniqueKey(whose: Whose, type: string, uniqueId: string): string {
  const owner = typeof whose === "string" ? [whose] : [whose.type, whose.value];
  return createHash("sha256")
    .update(JSON.stringify([owner, type, uniqueId]))
    .digest("base64url");
}
