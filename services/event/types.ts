/**
 * The types of events that a property has. Each makes a metric, so a type beyond the limit is refused before anything is recorded: an event that
 * was answered is always counted.
 */
import { LRUCache } from "lru-cache";
import { metricsMax } from "#shared/values/limits.ts";
import { withTransaction, type Database } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import { findTypes, insertTypes, lockTypeCount } from "./sql/types.ts";

/** See createEventTypes. */
export interface EventTypes {
  /** Gives a property the types that it does not have yet, in their order. @returns those that would be too many. */
  admit(property: Uuid, types: readonly string[]): Promise<ReadonlySet<string>>;
}

const rememberedMax = 50_000;
const none: ReadonlySet<string> = new Set();

export function createEventTypes(database: Database): EventTypes {
  // Types are never taken back, so what is remembered stays true. What was refused is not remembered.
  const known = new LRUCache<string, true>({ max: rememberedMax });
  const keyOf = (property: Uuid, type: string): string => `${property} ${type}`;

  return {
    async admit(property, types) {
      const unknown = [...new Set(types)].filter((type) => !known.get(keyOf(property, type)));
      if (unknown.length === 0) return none;
      const refused = await withTransaction(database, async (tx) => {
        if ((await findTypes(tx, [property, unknown])).length === unknown.length) return none;
        const [counted] = await lockTypeCount(tx, [property]);
        // Somebody may have added them before the lock was ours.
        const found = new Set((await findTypes(tx, [property, unknown])).map(({ type }) => type));
        const missing = unknown.filter((type) => !found.has(type));
        const room = Math.max(0, metricsMax - (counted?.count ?? 0));
        const admitted = missing.slice(0, room);
        if (admitted.length > 0) await insertTypes(tx, [property, admitted]);
        return new Set(missing.slice(room));
      });
      for (const type of unknown) if (!refused.has(type)) known.set(keyOf(property, type), true);
      return refused;
    },
  };
}
