/** Small integers for profiles. A profile gets its ordinal on first use and keeps it. */
import { LRUCache } from "lru-cache";
import { tryDecodeId, type Uuid } from "#shared/values/ids.ts";
import type { Queryable, Transaction } from "#shared/database/postgres.ts";
import { findOrdinals, insertOrdinals } from "./sql/profiles.ts";
import { lockOrdinals, takeOrdinals } from "./sql/properties.ts";

/** Ordinals by TypeID. */
export type Ordinals = Map<string, number>;

export interface ProfileOrdinals {
  /** The ordinals of profiles, created if missing. Call `remember` once the transaction is committed. */
  give(tx: Transaction, property: Uuid, profileIds: Iterable<string>): Promise<Ordinals>;
  /** Caches ordinals. */
  remember(property: Uuid, ordinals: Ordinals): void;
}

const rememberedMax = 200_000;

export function createProfileOrdinals(): ProfileOrdinals {
  // By TypeID alone, because a text of both ids would be made and hashed anew for each event. If two properties have a
  // profile of the same id, one of them is known.
  const known = new LRUCache<string, { property: Uuid; number: number }>({ max: rememberedMax });
  const knownIn = (property: Uuid, id: string): number | undefined => {
    const held = known.get(id);
    return held?.property === property ? held.number : undefined;
  };

  async function lookUp(database: Queryable, property: Uuid, ids: readonly string[], found: Ordinals): Promise<void> {
    if (ids.length === 0) return;
    const idOf = new Map(ids.map((id) => [uuidOf(id), id]));
    for (const { profile_id: uuid, number } of await findOrdinals(database, [property, [...idOf.keys()]])) {
      found.set(idOf.get(uuid) as string, number);
    }
  }

  async function find(database: Queryable, property: Uuid, profileIds: Iterable<string>): Promise<Ordinals> {
    const found: Ordinals = new Map();
    const unknown: string[] = [];
    for (const id of profileIds) {
      const number = knownIn(property, id);
      if (number === undefined) unknown.push(id);
      else found.set(id, number);
    }
    await lookUp(database, property, unknown, found);
    return found;
  }

  return {
    async give(tx, property, profileIds) {
      const wanted = [...new Set(profileIds)];
      const found = await find(tx, property, wanted);
      if (found.size === wanted.length) return found;
      await lockOrdinals(tx, [property]);
      // Another transaction may have inserted them before the lock was granted.
      const missingBefore = wanted.filter((id) => !found.has(id));
      await lookUp(tx, property, missingBefore, found);
      const missing = missingBefore.filter((id) => !found.has(id));
      if (missing.length === 0) return found;
      const [taken] = await takeOrdinals(tx, [property, missing.length]);
      if (!taken) throw new Error("the property has no row");
      const first = taken.last - missing.length + 1;
      const ordinals = missing.map((id, index) => ({ profile_id: uuidOf(id), number: first + index }));
      await insertOrdinals(tx, [property, ordinals]);
      for (const [index, id] of missing.entries()) found.set(id, first + index);
      return found;
    },
    remember(property, ordinals) {
      for (const [id, number] of ordinals) if (knownIn(property, id) === undefined) known.set(id, { property, number });
    },
  };
}

function uuidOf(profileId: string): Uuid {
  const uuid = tryDecodeId("prof", profileId);
  if (uuid === undefined) throw new Error("this is not the id of a profile");
  return uuid;
}
