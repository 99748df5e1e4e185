/** Makes attempts, and says what they mean for a delivery. */
import type { Clock } from "#shared/values/clock.ts";
import { encodeId } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { AttemptEntry } from "../domain/attempt-entry.ts";
import { retryDelaySeconds } from "../domain/retries.ts";
import type { AttemptResult, Target } from "../egress/attempt.ts";
import type { Sender } from "../egress/sender.ts";
import type { ResultRow } from "../sql/deliveries.ts";
import type { Item } from "./lane.ts";

/** Sends a delivery once. Never rejects. */
export function attempt(sender: Sender, target: Target, item: Item): Promise<AttemptResult> {
  const { messageId, body, attempts } = item;
  return sender.sendOnce({ target, messageId: encodeId("whm", messageId), body, attempt: attempts + 1 });
}

/** What an attempt makes of a delivery. @param random from 0 to 1. */
export function resultOf(item: Item, result: AttemptResult, clock: Clock, random: number): ResultRow {
  const { status, error, excerpt, startedAt, durationMs, retryAfterSeconds } = result;
  const now = clock.nowMicros();
  const isGone = status === 410;
  const delaySeconds =
    error === null || isGone ? undefined : retryDelaySeconds(item.attempts + 1, retryAfterSeconds, random);
  const entry: AttemptEntry = { at: formatMicros(startedAt), duration_ms: durationMs, status, error, excerpt };
  return {
    id: item.id,
    attempts: item.attempts,
    status: error === null ? "delivered" : delaySeconds === undefined ? "failed" : "pending",
    due_at: delaySeconds === undefined ? null : now + Math.round(delaySeconds * 1_000_000),
    response_status: status,
    error,
    entry,
    completed_at: delaySeconds === undefined ? now : null,
  };
}
