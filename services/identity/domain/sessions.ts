/** How long sessions and links last. */
import type { Micros } from "#shared/values/clock.ts";

const minute = 60 * 1_000_000;
const hour = 60 * minute;

const idleMicrosMax = 12 * hour;
const ageMicrosMax = 7 * 24 * hour;
/** So long after a password sensitive acts are allowed. */
export const freshForMicros = 10 * minute;
/** The use of a session is written at most this often. */
export const usedAgainMicros = minute;
/** Sessions of one member. Older ones end when there are more. */
export const sessionsPerMemberMax = 100;

export const setupLinkMicros = 60 * minute;
export const invitationMicros = 24 * hour;

/** When a session ends unless it is used before. */
export function endOf(createdAt: Micros, lastUsedAt: Micros): Micros {
  return Math.min(lastUsedAt + idleMicrosMax, createdAt + ageMicrosMax);
}

/** A session is open if it began after the first instant, and was used after the second. */
export function openSince(now: Micros): [createdAfter: Micros, usedAfter: Micros] {
  return [now - ageMicrosMax, now - idleMicrosMax];
}
