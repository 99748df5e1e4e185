/** Operations: idempotent writes, because a write and the record of its operation commit together. */
import { decodeId, type Uuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { ProfileContext } from "./context.ts";
import { findOperations, insertOperations } from "./sql/operations.ts";
import { readProfiles, readRow, type ProfileRow } from "./sql/profiles.ts";
import { retryConflicts, OptimisticConflict, type Attempt } from "./attempts.ts";

// Longer than any caller retries an operation.
const ageMaxMicros = 48 * 60 * 60 * 1_000_000;

/**
 * Does a write with retries, once per operation: a repeat gets the same result, with the current profile.
 * @param work returns the profile after the write; its other fields are stored as JSON.
 * @param first as in retryConflicts.
 */
export async function oncePerOperation<T extends { row: ProfileRow }>(
  context: ProfileContext,
  property: Uuid,
  { operationId }: { operationId?: string },
  work: (attempt: Attempt) => Promise<T>,
  first?: readonly Uuid[],
): Promise<T> {
  if (operationId === undefined) return retryConflicts(context, property, work, first);
  const operation = decodeId("op", operationId, "operation_id");
  const once = async (attempt: Attempt): Promise<T> => {
    const done = (await findDone<Omit<T, "row">>(attempt, [operation])).get(operation);
    if (done) return done as unknown as T;
    attempt.operation = operation;
    const { row, ...note } = await work(attempt);
    await recordOperations(attempt, [{ operation, profile: row.id, note }]);
    return { ...note, row } as unknown as T;
  };
  return retryConflicts(context, property, once, first ?? []);
}

/** An operation that an attempt has done. */
export interface DoneOperation {
  operation: Uuid;
  profile: Uuid;
  /** The result without the profile. */
  note: object;
}

/** Records operations in the transaction that does them. @throws OptimisticConflict when one is already recorded. */
export async function recordOperations(
  { database, property, now }: Attempt,
  done: readonly DoneOperation[],
): Promise<void> {
  const recorded = await insertOperations(database, [
    property,
    formatMicros(now + ageMaxMicros),
    done.map(({ operation, profile, note }) => ({ id: operation, profile_id: profile, note: JSON.stringify(note) })),
  ]);
  if (recorded.length < done.length) throw new OptimisticConflict();
}

/** Finds operations that were done before. @returns by operation, its note and the current profile. */
export async function findDone<Note>(
  { database, property, now }: Attempt,
  operations: readonly Uuid[],
): Promise<Map<Uuid, Note & { row: ProfileRow }>> {
  if (operations.length === 0) return new Map();
  const done = await findOperations(database, [property, operations, formatMicros(now)]);
  if (done.length === 0) return new Map();
  const ids = [...new Set(done.map(({ profile_id: id }) => id))];
  const rows = new Map((await readProfiles(database, [property, ids])).map((row) => [row.id, readRow(row)]));
  return new Map(
    done.map(({ id, profile_id: profile, note }) => {
      const row = rows.get(profile);
      if (!row) throw new Error("a profile that was written is gone");
      return [id, { ...note, row } as Note & { row: ProfileRow }];
    }),
  );
}
