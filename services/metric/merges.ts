/** Applies merges at query time. Stored sets keep the ordinals that events came with. */
import { RoaringBitmap32 } from "roaring-wasm";
import type { CallOptions } from "@connectrpc/connect";
import type { Merge } from "#proto/daybook/profile/v1/profile_pb.ts";
import { encodeId, lowestUuidAt, timeOfUuid, type Uuid, toUuid } from "#shared/values/ids.ts";
import { withTransaction, type Queryable } from "#shared/database/postgres.ts";
import type { MetricContext } from "./context.ts";
import { newProfileSet, readProfileSet, writeProfileSet, type ProfileSet } from "./profile-set.ts";
import { findMerges, insertMerges } from "./sql/profiles.ts";
import { lockOrdinals, readMerged, writeMerged } from "./sql/properties.ts";

const mergesMax = 10_000;
// A merge may commit after merges with higher ids. No transaction lasts this long.
const lateMergesMs = 120_000;

/** Stores the merges that the profile service has now. */
export async function pullMerges(context: MetricContext, property: Uuid, options: CallOptions): Promise<void> {
  const { database, profiles, ordinals } = context;
  const propertyId = encodeId("prop", property);
  const [known] = await readMerged(database, [property]);
  // Nothing of the property is counted yet.
  if (!known) return;
  let after = known.merges_after ? lowestUuidAt(timeOfUuid(known.merges_after) - lateMergesMs) : undefined;
  for (let hasMore = true; hasMore;) {
    const request = { propertyId, limit: mergesMax, afterMergeId: after };
    const page = await profiles.listMerges(request, options);
    ({ hasMore } = page);
    const last = page.merges.at(-1);
    if (!last) return;
    after = toUuid(last.mergeId);
    await storeMerges(page.merges, after);
  }

  async function storeMerges(merges: readonly Merge[], last: Uuid): Promise<void> {
    const given = await withTransaction(database, async (tx) => {
      const found = await ordinals.give(
        tx,
        property,
        merges.flatMap(({ sourceId, survivorId }) => [sourceId, survivorId]),
      );
      await lockOrdinals(tx, [property]);
      const [row] = await readMerged(tx, [property]);
      const merged = row?.merged ? readProfileSet(row.merged) : newProfileSet();
      try {
        const numberOf = (id: string): number => found.get(id) as number;
        const fresh = merges
          .map(({ sourceId, survivorId }) => ({ source: numberOf(sourceId), survivor: numberOf(survivorId) }))
          .filter(({ source }) => !merged.has(source));
        if (fresh.length === 0) return found;
        await insertMerges(tx, [property, fresh]);
        merged.addMany(fresh.map(({ source }) => source));
        await writeMerged(tx, [property, writeProfileSet(merged), last]);
      } finally {
        merged.dispose();
      }
      return found;
    });
    ordinals.remember(property, given);
  }
}

/** Replaces merged profiles by their survivors, in place. */
export async function replaceMerged(database: Queryable, property: Uuid, sets: readonly ProfileSet[]): Promise<void> {
  const [row] = await readMerged(database, [property]);
  if (!row?.merged) return;
  const merged = readProfileSet(row.merged);
  const toReplace = newProfileSet();
  try {
    for (const set of sets) {
      if (!set.intersects(merged)) continue;
      const overlap = RoaringBitmap32.and(set, merged);
      toReplace.orInPlace(overlap);
      overlap.dispose();
    }
    const survivorOf = await findSurvivors(database, property, toReplace.toArray(), merged);
    for (const set of sets) {
      if (!set.intersects(toReplace)) continue;
      const overlap = RoaringBitmap32.and(set, toReplace);
      set.andNotInPlace(overlap);
      set.addMany(overlap.toArray().map((number) => survivorOf(number)));
      overlap.dispose();
    }
  } finally {
    merged.dispose();
    toReplace.dispose();
  }
}

/** @returns a function that gives the last survivor of an ordinal. */
async function findSurvivors(
  database: Queryable,
  property: Uuid,
  ordinals: number[],
  merged: ProfileSet,
): Promise<(number: number) => number> {
  const steps = new Map<number, number>();
  for (let wanted = ordinals; wanted.length > 0;) {
    const rows = await findMerges(database, [property, wanted]);
    for (const { source, survivor } of rows) steps.set(source, survivor);
    wanted = [...new Set(rows.map(({ survivor }) => survivor))].filter((next) => merged.has(next) && !steps.has(next));
  }
  return (number) => {
    let at = number;
    for (let next = steps.get(at); next !== undefined; next = steps.get(at)) at = next;
    return at;
  };
}
