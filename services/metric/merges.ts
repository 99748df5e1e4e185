/** Merged profiles are one. Sets of profiles keep the ordinals that events came with; who was merged into whom is looked at when they are counted. */
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
// A merge may be committed after others with a higher id. A transaction is over long before that.
const lateMergesMs = 120_000;

/** Learns of all merges that are on record at this moment. */
export async function pullMerges(context: MetricContext, property: Uuid, options: CallOptions): Promise<void> {
  const { database, profiles, ordinals } = context;
  const propertyId = encodeId("prop", property);
  const [known] = await readMerged(database, [property]);
  // Nothing was counted of it yet.
  if (!known) return;
  let after = known.merges_after ? lowestUuidAt(timeOfUuid(known.merges_after) - lateMergesMs) : undefined;
  for (let hasMore = true; hasMore;) {
    const request = { propertyId, limit: mergesMax, afterMergeId: after };
    const page = await profiles.listMerges(request, options);
    ({ hasMore } = page);
    const last = page.merges.at(-1);
    if (!last) return;
    after = toUuid(last.mergeId);
    await note(page.merges, after);
  }

  async function note(merges: readonly Merge[], last: Uuid): Promise<void> {
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

/** Puts survivors in the place of profiles that were merged away. */
export async function replaceMerged(database: Queryable, property: Uuid, sets: readonly ProfileSet[]): Promise<void> {
  const [row] = await readMerged(database, [property]);
  if (!row?.merged) return;
  const merged = readProfileSet(row.merged);
  const gone = newProfileSet();
  try {
    for (const set of sets) {
      if (!set.intersects(merged)) continue;
      const some = RoaringBitmap32.and(set, merged);
      gone.orInPlace(some);
      some.dispose();
    }
    const survivorOf = await findSurvivors(database, property, gone.toArray(), merged);
    for (const set of sets) {
      if (!set.intersects(gone)) continue;
      const some = RoaringBitmap32.and(set, gone);
      set.andNotInPlace(some);
      set.addMany(some.toArray().map((number) => survivorOf(number)));
      some.dispose();
    }
  } finally {
    merged.dispose();
    gone.dispose();
  }
}

/** @returns the end of the chain that begins at a number. */
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
