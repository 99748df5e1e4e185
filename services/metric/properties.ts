/** The state of properties. */
import type { Transaction } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import { addProperties, readProperties, type PropertyRow } from "./sql/properties.ts";

/** Reads properties ordered by id, and adds missing ones. */
export async function findProperties(tx: Transaction, ids: readonly Uuid[]): Promise<PropertyRow[]> {
  if (ids.length === 0) return [];
  let rows = await readProperties(tx, [ids]);
  if (rows.length < ids.length) {
    const known = new Set(rows.map(({ property_id: id }) => id));
    await addProperties(tx, [ids.filter((id) => !known.has(id))]);
    rows = await readProperties(tx, [ids]);
  }
  return rows.toSorted((one, other) => (one.property_id < other.property_id ? -1 : 1));
}
