/** Operations: writes that are done once however often they are asked for, as their record stands or falls with them. */
import { decodeId, type Uuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { ProfileContext } from "./context.ts";
import { findOperations, insertOperations } from "./sql/operations.ts";
import { readProfiles, readRow, type ProfileRow } from "./sql/profiles.ts";
import { retryConflicts, OptimisticConflict, type Attempt } from "./attempts.ts";

// Longer than anybody asks for the same operation again.
const ageMaxMicros = 48 * 60 * 60 * 1_000_000;

/**
 * Tries a write in attempts, once if it belongs to an operation: asked for again, the answer is the same, with the profile as it then is.
 * @param work gives the profile after the write; whatever else it gives is kept as JSON.
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

/** An operation that a attempt has done. */
export interface DoneOperation {
  /** UUIDs */
  operation: Uuid;
  profile: Uuid;
  /** What to answer beside the profile. */
  note: object;
}

/** Records operations, in the transaction that does them. Fails as a lost race when somebody else does one of them too: the next attempt finds it done. */
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

/**
 * Finds operations that were done before.
 * @returns by operation, what was noted of it, and its profile as it now is.
 */
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
