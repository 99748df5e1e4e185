/** Begins and ends sessions of members. */
import { create } from "@bufbuild/protobuf";
import { SessionSchema, type Session, type Visitor } from "#proto/daybook/identity/v1/members_pb.ts";
import type { Transaction } from "#shared/database/postgres.ts";
import type { Clock, Micros } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { encodeId, newUuid, type Uuid } from "#shared/values/ids.ts";
import { formatMicros, toTimestamp, type Instant } from "#shared/values/time.ts";
import { hashSecret } from "../domain/secret.ts";
import { endOf, freshForMicros, openSince, sessionsPerMemberMax } from "../domain/sessions.ts";
import { newToken } from "../domain/token.ts";
import { endOldestSessions, insertSession, type SessionRow } from "../sql/member-sessions.ts";

export interface Begun {
  session: SessionRow;
  token: string;
}

const addressLengthMax = 64;
const userAgentLengthMax = 255;

/**
 * Begins a session in a transaction that holds the lock of the member.
 * @param provenAt when she showed that it is her; now if absent. The session is fresh for some time after it.
 */
export async function beginSession(
  tx: Transaction,
  clock: Clock,
  memberId: Uuid,
  visitor: Visitor | undefined,
  provenAt?: Micros,
): Promise<Begun> {
  const now = clock.nowMicros();
  // The clock of an issuer may be ahead.
  const freshUntil = Math.min(provenAt ?? now, now) + freshForMicros;
  const token = newToken();
  const [session] = await insertSession(tx, [
    newUuid(),
    memberId,
    hashSecret(token),
    formatMicros(now),
    formatMicros(freshUntil),
    cut(visitor?.address ?? "", addressLengthMax),
    cut(visitor?.userAgent ?? "", userAgentLengthMax),
  ]);
  if (!session) throw new Error("the session was not stored");
  await endOldestSessions(tx, [memberId, sessionsPerMemberMax]);
  return { session, token };
}

/** What a browser says of itself is shown, so it is kept as far as it can be. */
function cut(text: string, lengthMax: number): string {
  return text
    .slice(0, lengthMax)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, " ");
}

/** As parameters of statements: open sessions began after the first, and were used after the second. */
export function openSinceInstants(now: Micros): [createdAfter: Instant, usedAfter: Instant] {
  const [createdAfter, usedAfter] = openSince(now);
  return [formatMicros(createdAfter), formatMicros(usedAfter)];
}

export function toSession(row: SessionRow): Session {
  return create(SessionSchema, {
    id: encodeId("sess", row.id),
    memberId: encodeId("mem", row.member_id),
    createdAt: toTimestamp(row.created_at),
    lastUsedAt: toTimestamp(row.last_used_at),
    expiresAt: toTimestamp(endOf(row.created_at, row.last_used_at)),
    freshUntil: toTimestamp(row.fresh_until),
    address: row.address,
    userAgent: row.user_agent,
  });
}

/** The same for unknown and ended sessions. */
export function signInRequired(): DaybookError {
  return new DaybookError("sign_in_required", "You are not signed in, or your session has ended. Sign in.");
}
