/** Counts batches and does writes once: their ids are recorded in the transaction that does them. */
import type { Micros } from "#shared/values/clock.ts";
import type { Transaction } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import { operations } from "./sql/operations.ts";

// The bus redelivers messages for up to 7 days, and their signatures are valid for 7.5 days.
const ageMaxMicros = 8 * 24 * 60 * 60 * 1_000_000;

/** Records batches or operations as done. @returns the ids of those that were not recorded before, each once. */
export async function recordOnce(
  tx: Transaction,
  ids: readonly { property: Uuid; id: Uuid }[],
  now: Micros,
): Promise<Set<Uuid>> {
  const rows = ids.map(({ property, id }) => ({
    property_id: property,
    id,
    fingerprint: null,
    note: null,
    done_at: now,
    expires_at: now + ageMaxMicros,
  }));
  const recorded = await operations.record(tx, [rows]);
  return new Set(recorded.map(({ id }) => id));
}
