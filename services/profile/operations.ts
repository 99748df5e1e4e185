/** Operations: writes that are done once however often they are asked for, as their record stands or falls with them. */
import { decodeId } from "#shared/ids.ts";
import { formatMicros } from "#shared/time.ts";
import type { ProfileContext } from "./context.ts";
import { findOperation, insertOperation } from "./sql/operations.ts";
import { readProfiles, readRow, type ProfileRow } from "./sql/profiles.ts";
import { inTurns, LostRace, type Turn } from "./turns.ts";

// Longer than anybody asks for the same operation again.
const ageMaxMicros = 48 * 60 * 60 * 1_000_000;

/**
 * Tries a write in turns, once if it belongs to an operation: asked for again, the answer is the same, with the profile as it then is.
 * @param attempt gives the profile after the write; whatever else it gives is kept as JSON.
 * @param first as in inTurns.
 */
export async function oncePerOperation<T extends { row: ProfileRow }>(
  context: ProfileContext,
  property: string,
  { operationId }: { operationId?: string },
  attempt: (turn: Turn) => Promise<T>,
  first?: readonly string[],
): Promise<T> {
  if (operationId === undefined) return inTurns(context, property, attempt, first);
  const operation = decodeId("op", operationId, "operation_id");
  const once = async (turn: Turn): Promise<T> => {
    const { database, now } = turn;
    const [done] = await findOperation(database, [property, operation, formatMicros(now)]);
    if (done) {
      const [row] = await readProfiles(database, [property, [done.profile_id]]);
      if (!row) throw new Error("a profile that was written is gone");
      return { ...done.note, row: readRow(row) } as T;
    }
    turn.operation = operation;
    const { row, ...note } = await attempt(turn);
    const record = [property, operation, row.id, JSON.stringify(note), formatMicros(now + ageMaxMicros)];
    const [recorded] = await insertOperation(database, record);
    // Somebody else does the same: the next turn finds it done.
    if (!recorded) throw new LostRace();
    return { ...note, row } as unknown as T;
  };
  return inTurns(context, property, once, first ?? []);
}
