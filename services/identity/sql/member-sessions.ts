/** Sign-ins of members. */
import { statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

export interface SessionRow {
  id: Uuid;
  member_id: Uuid;
  created_at: Micros;
  last_used_at: Micros;
  fresh_until: Micros;
  address: string;
  user_agent: string;
}

const columns = "id, member_id, created_at, last_used_at, fresh_until, address, user_agent";

export const insertSession = statement<
  [
    id: Uuid,
    memberId: Uuid,
    tokenHash: Buffer,
    createdAt: Instant,
    freshUntil: Instant,
    address: string,
    userAgent: string,
  ],
  SessionRow
>(
  "identity.member_sessions.insert",
  `INSERT INTO identity.member_sessions
     (id, member_id, token_hash, created_at, last_used_at, fresh_until, address, user_agent)
   VALUES ($1, $2, $3, $4, $4, $5, $6, $7)
   RETURNING ${columns}`,
);

/** Ends the oldest sessions of a member beyond `most`. Gives a row for each. */
export const endOldestSessions = statement<[memberId: Uuid, most: number], { id: Uuid }>(
  "identity.member_sessions.end_oldest",
  `DELETE FROM identity.member_sessions WHERE member_id = $1 AND id = ANY(ARRAY(
     SELECT id FROM identity.member_sessions WHERE member_id = $1 ORDER BY created_at DESC, id DESC OFFSET $2
   )) RETURNING id`,
);

export const findSessionByHash = statement<[tokenHash: Buffer, createdAfter: Instant, usedAfter: Instant], SessionRow>(
  "identity.member_sessions.find_by_hash",
  `SELECT ${columns} FROM identity.member_sessions
   WHERE token_hash = $1 AND created_at > $2 AND last_used_at > $3`,
);

export const findSession = statement<[id: Uuid, createdAfter: Instant, usedAfter: Instant], SessionRow>(
  "identity.member_sessions.find",
  `SELECT ${columns} FROM identity.member_sessions WHERE id = $1 AND created_at > $2 AND last_used_at > $3`,
);

/** Notes that a session and its member were seen, unless one of several replicas just has. */
export const noteSessionUse = statement<[id: Uuid, now: Instant, usedBefore: Instant]>(
  "identity.member_sessions.note_use",
  `WITH used AS (
     UPDATE identity.member_sessions SET last_used_at = $2 WHERE id = $1 AND last_used_at <= $3 RETURNING member_id
   )
   UPDATE identity.members SET last_seen_at = greatest(last_seen_at, $2)
   WHERE id = ANY(ARRAY(SELECT member_id FROM used))`,
);

export const refreshSession = statement<
  [id: Uuid, freshUntil: Instant, createdAfter: Instant, usedAfter: Instant],
  SessionRow
>(
  "identity.member_sessions.refresh",
  `UPDATE identity.member_sessions SET fresh_until = $2 WHERE id = $1 AND created_at > $3 AND last_used_at > $4
   RETURNING ${columns}`,
);

/** Newest first. */
export const listSessions = statement<
  [memberId: Uuid, createdAfter: Instant, usedAfter: Instant, limit: number],
  SessionRow
>(
  "identity.member_sessions.list",
  `SELECT ${columns} FROM identity.member_sessions
   WHERE member_id = $1 AND created_at > $2 AND last_used_at > $3
   ORDER BY created_at DESC, id DESC LIMIT $4`,
);

/** Gives a row if the session was open. */
export const endSession = statement<[memberId: Uuid, id: Uuid], SessionRow>(
  "identity.member_sessions.end",
  `DELETE FROM identity.member_sessions WHERE member_id = $1 AND id = $2 RETURNING ${columns}`,
);

/** Ends all sessions of a member but one. Gives a row for each. */
export const endOtherSessions = statement<[memberId: Uuid, kept: Uuid], SessionRow>(
  "identity.member_sessions.end_others",
  `DELETE FROM identity.member_sessions WHERE member_id = $1 AND id <> $2 RETURNING ${columns}`,
);

/** Gives a row for each. */
export const deleteEndedSessions = statement<
  [createdBefore: Instant, usedBefore: Instant, rowsMax: number],
  { gone: boolean }
>(
  "identity.member_sessions.delete_ended",
  `DELETE FROM identity.member_sessions WHERE id = ANY(ARRAY(
     SELECT id FROM identity.member_sessions WHERE created_at <= $1 OR last_used_at <= $2 LIMIT $3
   )) RETURNING true AS gone`,
);
