/**
 * Wrong passwords slow down those that follow, over all replicas: an attempt is counted as wrong before it is checked,
 * in the database, and taken back if it was right. So attempts at the same time are no more than those one by one.
 *
 * An attacker keeps no member out for good. Her email is not slowed down at addresses where she signed in within 30
 * days, but for what fails there. Elsewhere the longest delay is 15 minutes after the attack ends, and an invitation by
 * another admin or an operator always lets her in.
 */
import { createHash } from "node:crypto";
import { withTransaction, type Database } from "#shared/database/postgres.ts";
import { clientOf } from "#shared/values/client-address.ts";
import type { Clock, Micros } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { formatMicros } from "#shared/values/time.ts";
import { delayAfter, forgetAfterMicros, knownForMicros, type AttemptKind } from "../domain/attempts.ts";
import {
  countAttempts,
  findAttempts,
  forgetAttempts,
  lockAttempts,
  noteKnown,
  uncountAttempt,
  type AttemptsRow,
} from "../sql/password-attempts.ts";

/** An attempt that was counted as wrong. */
export interface Attempt {
  /** It was right: forgets the failures of the email, and notes that the member is known at the address. */
  succeed(): Promise<void>;
  /** It was neither right nor wrong, because it could not be checked. */
  withdraw(): Promise<void>;
}

/**
 * Counts an attempt at the password of an email.
 * @param email in normal form, or any text that no member has.
 * @throws DaybookError `rate_limited` while the email or the address has to wait.
 */
export async function beginAttempt(
  { database, clock }: { database: Database; clock: Clock },
  email: string,
  address: string,
): Promise<Attempt> {
  const client = clientOf(address);
  const now = clock.nowMicros();
  const subjects = {
    email: subjectOf("email", email),
    known: subjectOf("known", email, client),
    address: subjectOf("address", client),
  };
  const found = await findAttempts(database, [
    formatMicros(now),
    Object.values(subjects).map((subject) => ({ subject })),
  ]);
  const kind: AttemptKind = found.some((row) => row.is_known && row.subject.equals(subjects.known)) ? "known" : "email";
  const counts = [subjects[kind], subjects.address];
  // Before the lock: a flood of attempts that have to wait anyway would wait for it one by one, each with a connection.
  checkBlock(
    found.filter(({ subject }) => counts.some((counted) => counted.equals(subject))),
    now,
  );

  await withTransaction(database, async (tx) => {
    // In one order, so that attempts do not wait for each other in a circle.
    const [first, second] = counts.toSorted((a, b) => Buffer.compare(a, b));
    if (!first || !second) throw new Error("two subjects are counted");
    const rows = await lockAttempts(tx, [first, second, formatMicros(now)]);
    checkBlock(rows, now);
    const counted = rows.map((row) => {
      const kindOfRow = row.subject.equals(subjects.address) ? "address" : kind;
      const failures = failuresOf(row, now) + 1;
      const delay = delayAfter(kindOfRow, failures);
      return {
        subject: row.subject,
        failures,
        blocked_until: delay === 0 ? ("-infinity" as const) : now + delay,
      };
    });
    await countAttempts(tx, [formatMicros(now), counted]);
  });

  return {
    async succeed() {
      await uncountAttempt(database, [subjects.address]);
      await forgetAttempts(database, [subjects.email]);
      await noteKnown(database, [subjects.known, formatMicros(now), formatMicros(now + knownForMicros)]);
    },
    async withdraw() {
      await uncountAttempt(database, [subjects.address]);
      await uncountAttempt(database, [subjects[kind]]);
    },
  };
}

/** @throws DaybookError `rate_limited` */
function checkBlock(rows: readonly Pick<AttemptsRow, "blocked_until">[], now: Micros): void {
  const blockedUntil = Math.max(0, ...rows.map((row) => row.blocked_until ?? 0));
  if (blockedUntil > now) throw tooMany(blockedUntil - now);
}

function failuresOf({ failures, attempted_at: attemptedAt }: AttemptsRow, now: number): number {
  return attemptedAt < now - forgetAfterMicros ? 0 : failures;
}

/** The same for an email and an address, so that it does not tell whether the email has a member. */
function tooMany(delayMicros: number): DaybookError {
  const seconds = Math.ceil(delayMicros / 1_000_000);
  const message = `There were too many wrong passwords. Try again in ${seconds} ${seconds === 1 ? "second" : "seconds"}.`;
  return new DaybookError("rate_limited", message, { retryAfterMs: seconds * 1_000 });
}

/** Hashed, because the table is about people who may not be members. */
function subjectOf(kind: AttemptKind, ...parts: string[]): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([kind, ...parts]))
    .digest();
}
