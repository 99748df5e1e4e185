/** Attempts at passwords. */
import { columns, type Rows } from "#shared/database/columns.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Instant } from "#shared/values/time.ts";

export interface AttemptsRow {
  subject: Buffer;
  failures: number;
  blocked_until: Micros | null;
  attempted_at: Micros;
}

const wanted = columns(2, { subject: "bytea" });

/** Reads subjects without a lock. */
export const findAttempts = statement<
  [now: Instant, subjects: Rows<typeof wanted>],
  Pick<AttemptsRow, "subject" | "blocked_until"> & {
    /** Whether the member is known at the address of the subject. */
    is_known: boolean;
  }
>(
  "identity.password_attempts.find",
  `SELECT subject, nullif(blocked_until, '-infinity') AS blocked_until, coalesce(known_until > $1, false) AS is_known
   FROM identity.password_attempts WHERE subject = ANY(${wanted.array("subject")})`,
  wanted,
);

/** Reads and locks two subjects, which are made if they are not there. They must differ, and come in order. */
export const lockAttempts = statement<[first: Buffer, second: Buffer, now: Instant], AttemptsRow>(
  "identity.password_attempts.lock",
  `INSERT INTO identity.password_attempts AS a (subject, failures, blocked_until, attempted_at)
   VALUES ($1, 0, '-infinity', $3), ($2, 0, '-infinity', $3)
   ON CONFLICT (subject) DO UPDATE SET failures = a.failures
   RETURNING subject, failures, nullif(blocked_until, '-infinity') AS blocked_until, attempted_at`,
);

const counts = columns(2, { subject: "bytea", failures: "integer", blocked_until: "timestamptz" });

/** Stores failures of locked subjects. */
export const countAttempts = statement<[now: Instant, counts: Rows<typeof counts>]>(
  "identity.password_attempts.count",
  `UPDATE identity.password_attempts a SET failures = c.failures, blocked_until = c.blocked_until, attempted_at = $1
   FROM ${counts.as("c")}
   WHERE a.subject = c.subject`,
  counts,
);

/** Takes back an attempt that was counted but was not wrong. */
export const uncountAttempt = statement<[subject: Buffer]>(
  "identity.password_attempts.uncount",
  `UPDATE identity.password_attempts SET failures = greatest(0, failures - 1), blocked_until = '-infinity'
   WHERE subject = $1`,
);

/** Forgets the failures of a subject. */
export const forgetAttempts = statement<[subject: Buffer]>(
  "identity.password_attempts.forget",
  `DELETE FROM identity.password_attempts WHERE subject = $1`,
);

/** Notes that a member signed in from an address, and forgets her failures there. */
export const noteKnown = statement<[subject: Buffer, now: Instant, knownUntil: Instant]>(
  "identity.password_attempts.note_known",
  `INSERT INTO identity.password_attempts (subject, failures, blocked_until, attempted_at, known_until)
   VALUES ($1, 0, '-infinity', $2, $3)
   ON CONFLICT (subject) DO UPDATE SET
     failures = 0, blocked_until = '-infinity', attempted_at = excluded.attempted_at, known_until = excluded.known_until`,
);

/** Gives a row for each. */
export const deleteOldAttempts = statement<
  [attemptedBefore: Instant, now: Instant, rowsMax: number],
  { gone: boolean }
>(
  "identity.password_attempts.delete",
  `DELETE FROM identity.password_attempts WHERE subject = ANY(ARRAY(
     SELECT subject FROM identity.password_attempts
     WHERE attempted_at < $1 AND coalesce(known_until, '-infinity') <= $2
     ORDER BY attempted_at LIMIT $3 FOR UPDATE SKIP LOCKED
   )) RETURNING true AS gone`,
);
