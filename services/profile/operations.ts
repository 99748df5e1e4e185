/** Idempotent writes: a write and the record of its operation commit together. */
import { decodeId, type Uuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { ProfileContext } from "./context.ts";
import { operations } from "./sql/operations.ts";
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
    if (done) return { ...done.note, row: done.row } as unknown as T;
    attempt.operation = operation;
    const { row, ...note } = await work(attempt);
    await recordOperations(attempt, [{ id: operation, profile: row.id, note }]);
    return { ...note, row } as unknown as T;
  };
  return retryConflicts(context, property, once, first ?? []);
}

/** An operation that an attempt has done. */
export interface DoneOperation {
  id: Uuid;
  profile: Uuid;
  /** The result without the profile. */
  note: object;
  /** A digest of what was asked under the id. */
  fingerprint?: Buffer;
  /** 48 hours if undefined. */
  ageMaxMicros?: number;
}

/** Records operations in the transaction that does them. @throws OptimisticConflict when one is already recorded. */
export async function recordOperations(
  { database, property, now }: Attempt,
  done: readonly DoneOperation[],
): Promise<void> {
  const rows = done.map((operation) => ({
    property_id: property,
    id: operation.id,
    fingerprint: operation.fingerprint ?? null,
    note: { ...operation.note, profile: operation.profile },
    done_at: now,
    expires_at: now + (operation.ageMaxMicros ?? ageMaxMicros),
  }));
  const recorded = await operations.record(database, [rows]);
  if (recorded.length < done.length) throw new OptimisticConflict();
}

/** An operation that was done before, with the current profile. */
export interface KnownOperation<Note> {
  note: Note;
  fingerprint: Buffer | null;
  row: ProfileRow;
}

/** Finds operations that were done before. @returns by id */
export async function findDone<Note>(
  { database, property, now }: Attempt,
  ids: readonly Uuid[],
): Promise<Map<Uuid, KnownOperation<Note>>> {
  if (ids.length === 0) return new Map();
  const found = await operations.find(database, [property, ids, formatMicros(now)]);
  if (found.length === 0) return new Map();
  const done = found.map(({ id, fingerprint, note }) => {
    const { profile, ...rest } = note as { profile: Uuid };
    return { id, fingerprint, profile, note: rest as Note };
  });
  const profiles = [...new Set(done.map(({ profile }) => profile))];
  const rows = new Map((await readProfiles(database, [property, profiles])).map((row) => [row.id, readRow(row)]));
  return new Map(
    done.map(({ id, fingerprint, profile, note }) => {
      const row = rows.get(profile);
      if (!row) throw new Error("a profile that was written is gone");
      return [id, { note, fingerprint, row }];
    }),
  );
}
