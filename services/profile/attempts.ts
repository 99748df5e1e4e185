/** Turns of a write: it is tried without a lock, and when it loses a race tried again, holding what it lost. */
import type { Micros } from "#shared/values/clock.ts";
import { serviceUnavailable } from "#shared/values/errors.ts";
import { withTransaction, type Queryable, type Transaction } from "#shared/database/postgres.ts";
import { isTransient, isUniqueViolation } from "#shared/database/failures.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { ProfileContext } from "./context.ts";
import { findTargets, lockProfile } from "./sql/profiles.ts";

/** One try of a write. */
export interface Attempt {
  database: Queryable;
  /** The transaction, in a attempt that has one. */
  tx: Transaction | undefined;
  /** Profiles that nobody else can write to until its end. */
  held: ReadonlySet<Uuid>;
  property: Uuid;
  /** The operation that it is a try of, if it is one of an operation: a profile that it makes has the same. */
  operation: Uuid | undefined;
  now: Micros;
  /** Whether it has written into the outbox. */
  hasNews: boolean;
  /** Attributes that it has written, as the texts of JSON objects. */
  attributes: string[];
  /** Asked before anything is written that the outbox tells of: whether it has room. @throws DaybookError `service_unavailable` */
  checkRoom: () => void;
}

/** Begins a attempt that holds nobody. */
export function openAttempt({ database, clock, relay }: ProfileContext, property: Uuid): Attempt {
  const checkRoom = (): void => relay.checkRoom();
  const now = clock.nowMicros();
  return {
    database,
    tx: undefined,
    held: new Set(),
    property,
    operation: undefined,
    now,
    hasNews: false,
    attributes: [],
    checkRoom,
  };
}

/** What follows once all of a attempt is committed. */
export async function closeAttempt({ relay, schemas }: ProfileContext, attempt: Attempt): Promise<void> {
  if (attempt.hasNews) relay.wake();
  if (attempt.attributes.length > 0) await schemas.learn(attempt.property, attempt.attributes);
}

// Whoever loses a attempt lost it to one who got theirs; from the second on only identifiers can be lost.
const attemptsMax = 20;

/** Somebody else wrote between the look and the write. What this attempt did is undone; the next one holds these profiles. */
export class OptimisticConflict extends Error {
  readonly profiles: readonly Uuid[];

  constructor(profiles: readonly Uuid[] = []) {
    super("somebody else was faster");
    this.profiles = profiles;
  }
}

/**
 * Tries a write until it has not lost a race.
 * @param first profiles to hold from the first attempt on; an empty list asks for a transaction that holds none.
 */
export async function retryConflicts<T>(
  context: ProfileContext,
  property: Uuid,
  work: (attempt: Attempt) => Promise<T>,
  first?: readonly Uuid[],
): Promise<T> {
  let wanted = first;
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    try {
      return await runAttempt(wanted);
    } catch (error) {
      if (error instanceof OptimisticConflict) wanted = [...new Set([...(first ?? []), ...error.profiles])];
      else if (isUniqueViolation(error) || isTransient(error)) wanted ??= [];
      else throw error;
    }
  }
  throw serviceUnavailable(new Error("a write lost every race"));

  async function runAttempt(profiles: readonly Uuid[] | undefined): Promise<T> {
    const attempt = openAttempt(context, property);
    const result = profiles
      ? await withTransaction(context.database, (tx) => holding(attempt, tx, profiles))
      : await work(attempt);
    await closeAttempt(context, attempt);
    return result;
  }

  async function holding(attempt: Attempt, tx: Transaction, profiles: readonly Uuid[]): Promise<T> {
    const held = new Set(profiles.length > 0 ? await hold(tx, property, profiles) : []);
    // A transaction may be begun anew after a deadlock: what it wrote before counts for nothing.
    return work(Object.assign(attempt, { database: tx, tx, held, attributes: [] }));
  }
}

/**
 * Holds profiles, or the survivors of those that are merged, in the order of their ids, so that nobody waits in a circle.
 * @returns the ids of those that are held.
 */
async function hold(tx: Transaction, property: Uuid, profiles: readonly Uuid[]): Promise<Uuid[]> {
  const targets = await findTargets(tx, [property, profiles]);
  const wanted = [...new Set(targets.map(({ id, merged_into: survivor }) => survivor ?? id))].toSorted();
  for (const id of wanted) {
    const [held] = await lockProfile(tx, [property, id]);
    // Merged while it was waited for. A merge of its survivor may want it, so it is given back before anything else is waited for.
    if (!held) throw new OptimisticConflict(profiles);
  }
  return wanted;
}
