/**
 * The event types of a property. Each type makes a metric, so a type beyond the limit is refused before its event is
 * stored: every stored event is counted.
 */
import { LRUCache } from "lru-cache";
import { metricsMax } from "#shared/values/limits.ts";
import { withTransaction, type Database } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import { findTypes, insertTypes, lockTypeCount } from "./sql/types.ts";

/** Limits the number of event types of a property. */
export interface EventTypes {
  /** Whether a property is remembered to have a type. */
  isKnown(property: Uuid, type: string): boolean;
  /** Adds the missing types to a property, in order. @returns the types beyond the limit. */
  admit(property: Uuid, types: readonly string[]): Promise<ReadonlySet<string>>;
}

const rememberedMax = 50_000;
const none: ReadonlySet<string> = new Set();

export function createEventTypes(database: Database): EventTypes {
  // Types are never deleted, so a cached type stays valid. Refusals are not cached.
  const known = new LRUCache<string, true>({ max: rememberedMax });
  const keyOf = (property: Uuid, type: string): string => `${property} ${type}`;

  const isKnown = (property: Uuid, type: string): boolean => known.get(keyOf(property, type)) === true;

  return {
    isKnown,
    async admit(property, types) {
      const unknown = [...new Set(types)].filter((type) => !isKnown(property, type));
      if (unknown.length === 0) return none;
      const refused = await withTransaction(database, async (tx) => {
        if ((await findTypes(tx, [property, unknown])).length === unknown.length) return none;
        const [counted] = await lockTypeCount(tx, [property]);
        // Another process may have added them before this one got the lock.
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
