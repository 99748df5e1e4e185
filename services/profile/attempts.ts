/** Attempts of a write: the first takes no lock; after an optimistic conflict the next locks the contested profiles. */
import type { Micros } from "#shared/values/clock.ts";
import { serviceUnavailable } from "#shared/values/errors.ts";
import { withTransaction, type Queryable, type Transaction } from "#shared/database/postgres.ts";
import { isTransient, isUniqueViolation } from "#shared/database/failures.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { ProfileContext } from "./context.ts";
import { findTargets, lockProfile } from "./sql/profiles.ts";

/** One attempt of a write. */
export interface Attempt {
  database: Queryable;
  /** Undefined in an attempt without a transaction. */
  tx: Transaction | undefined;
  /** Profiles that are locked until the end of the attempt. */
  held: ReadonlySet<Uuid>;
  property: Uuid;
  /** The operation that it belongs to, if any; also the id of a profile that it creates. */
  operation: Uuid | undefined;
  now: Micros;
  /** Whether it wrote to the outbox. */
  hasNews: boolean;
  /** Attributes that it wrote, as texts of JSON objects. */
  attributes: string[];
  /** Call it before writing to the outbox. @throws DaybookError `service_unavailable` when the outbox is full. */
  checkRoom: () => void;
}

/** Begins an attempt without a transaction or locks. */
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

/** Publishes and learns what an attempt wrote. Call it after the commit. */
export async function closeAttempt({ relay, schemas }: ProfileContext, attempt: Attempt): Promise<void> {
  if (attempt.hasNews) relay.wake();
  if (attempt.attributes.length > 0) await schemas.learn(attempt.property, attempt.attributes);
}

// Each conflict was lost to a write that succeeded. The next attempt locks the profiles that were contested.
const attemptsMax = 20;

/** Another write came between the read and the write. This attempt is rolled back; the next locks these profiles. */
export class OptimisticConflict extends Error {
  readonly profiles: readonly Uuid[];

  constructor(profiles: readonly Uuid[] = []) {
    super("somebody else was faster");
    this.profiles = profiles;
  }
}

/**
 * Retries a write after conflicts and transient failures.
 * @param first profiles to lock from the first attempt on; an empty list asks for a transaction without locks.
 * @throws DaybookError `service_unavailable` when all attempts fail, and what `work` throws.
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
    // withTransaction retries after a deadlock, so results of an earlier run are discarded.
    return work(Object.assign(attempt, { database: tx, tx, held, attributes: [] }));
  }
}

/**
 * Locks profiles, or the survivors of merged ones, in the order of their ids, so that writers never deadlock.
 * @returns the ids of the locked profiles.
 */
async function hold(tx: Transaction, property: Uuid, profiles: readonly Uuid[]): Promise<Uuid[]> {
  const targets = await findTargets(tx, [property, profiles]);
  const wanted = [...new Set(targets.map(({ id, merged_into: survivor }) => survivor ?? id))].toSorted();
  for (const id of wanted) {
    const [held] = await lockProfile(tx, [property, id]);
    // Merged during the wait, but locked. Release it before the next wait, because a merge of its survivor may need it.
    if (!held) throw new OptimisticConflict(profiles);
  }
  return wanted;
}
