/**
 * Rebuilds the roll-ups of a property in a new generation while recording continues. Events received up to an instant
 * are read from the event service; the consumer adds later ones to both generations. When complete, the new generation
 * replaces the old one.
 */
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Event, ListEventsResponse } from "#proto/daybook/event/v1/event_pb.ts";
import { EventSort } from "#proto/daybook/event/v1/event_pb.ts";
import { pause } from "#shared/scheduling/pause.ts";
import { decodeId, encodeId, type Uuid } from "#shared/values/ids.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { inChunks, withTransaction } from "#shared/database/postgres.ts";
import { formatMicros, fromTimestamp, toTimestamp } from "#shared/values/time.ts";
import type { MetricContext } from "./context.ts";
import { addCells, cellsOf, deltasOf, learnMetrics } from "./counting.ts";
import { lockAllMetrics, readMetricIds, setEventCounts } from "./sql/metrics.ts";
import {
  advanceRebuild,
  claimRebuild,
  findSilentRebuilds,
  finishRebuild,
  touchRebuild,
  type RebuildRow,
} from "./sql/properties.ts";
import { countRollups, deleteOldDays, deleteOldRollups, deleteOldSets } from "./sql/rollups.ts";

const pageEvents = 500;
const waitMs = 200;
// A rebuild whose process does not report for this long is taken over where it stopped.
const silenceSeconds = 30;
const lookRowsMax = 100;
const rowsMax = 5_000;
const options = systemCall("metric");

/** Thrown if the rebuild was begun again meanwhile. */
class RebuildSuperseded extends Error {}

/** Runs all rebuilds that no other process runs. */
export async function rebuildAll(context: MetricContext, signal: AbortSignal): Promise<void> {
  for (let hasClaimed = true; hasClaimed && !signal.aborted;) {
    hasClaimed = false;
    for (const { property_id: property } of await findSilentRebuilds(context.database, [silenceSeconds, lookRowsMax])) {
      if (signal.aborted) return;
      // Another process may have claimed it since.
      const [build] = await claimRebuild(context.database, [property, silenceSeconds]);
      if (!build) continue;
      hasClaimed = true;
      try {
        await rebuild(context, build, signal);
      } catch (error) {
        if (!(error instanceof RebuildSuperseded)) throw error;
      }
    }
  }
}

async function rebuild(context: MetricContext, build: RebuildRow, signal: AbortSignal): Promise<void> {
  const { property_id: property, building, building_up_to: upTo } = build;
  const propertyId = encodeId("prop", property);
  // Until the watermark passes, earlier events may not be stored yet.
  for (;;) {
    const { recordedUpTo } = await context.events.getWatermark({ propertyId }, options);
    if (recordedUpTo && fromTimestamp(recordedUpTo) >= upTo) break;
    await touch();
    await pause(waitMs, signal);
    if (signal.aborted) return;
  }
  let reading: Promise<ListEventsResponse> | undefined = readPage(
    build.built_at === null || build.built_event_id === null
      ? undefined
      : { time: toTimestamp(build.built_at), eventId: encodeId("evt", build.built_event_id) },
  );
  while (reading) {
    const { events, hasMore }: ListEventsResponse = await reading;
    const last = events.at(-1);
    const at = last?.receivedAt;
    // Reads the next page while this one is counted.
    reading = hasMore && last && at ? readPage({ time: at, eventId: last.id }) : undefined;
    // If counting fails, nothing awaits this promise.
    reading?.catch(() => undefined);
    if (last) await countPage(events, last);
    if (signal.aborted) return;
  }
  await finish();
  await deleteOld(context, property, building);

  function readPage(after: { time: Timestamp; eventId: string } | undefined): Promise<ListEventsResponse> {
    return context.events.listEvents(
      {
        propertyId,
        receivedAt: { lte: toTimestamp(upTo) },
        sort: EventSort.RECEIVED_AT,
        ascending: true,
        limit: pageEvents,
        ...(after ? { after } : {}),
      },
      options,
    );
  }

  async function touch(): Promise<void> {
    const touched = await touchRebuild(context.database, [property, building]);
    if (touched.length === 0) throw new RebuildSuperseded();
  }

  async function countPage(events: readonly Event[], last: Event): Promise<void> {
    const deltas = await deltasOf(events);
    const given = await withTransaction(context.database, async (tx) => {
      const ids = await learnMetrics(tx, context.relay, property, deltas, "anew");
      const ordinals = await addCells(tx, context.ordinals, property, building, cellsOf(deltas, ids));
      const at = formatMicros(last.receivedAt ? fromTimestamp(last.receivedAt) : 0);
      const event = decodeId("evt", last.id, "id");
      const advanced = await advanceRebuild(tx, [property, building, at, event, events.length]);
      if (advanced.length === 0) throw new RebuildSuperseded();
      return ordinals;
    });
    context.ordinals.remember(property, given);
  }

  function finish(): Promise<void> {
    return withTransaction(context.database, async (tx) => {
      // The locks stop counting, so that the counts match the new generation.
      const ids = (await lockAllMetrics(tx, [property])).map(({ id }) => id);
      const counts = new Map(
        (await countRollups(tx, [property, ids, building])).map(({ metric_id: id, events }) => [id, events]),
      );
      await setEventCounts(tx, [property, ids.map((id) => ({ id, count: counts.get(id) ?? 0 }))]);
      const finished = await finishRebuild(tx, [property, building]);
      if (finished.length === 0) throw new RebuildSuperseded();
    });
  }
}

/** Deletes old generations, which nothing reads. If interrupted, the next rebuild of the property deletes the rest. */
async function deleteOld({ database }: MetricContext, property: Uuid, shown: number): Promise<void> {
  const ids = (await readMetricIds(database, [property])).map(({ id }) => id);
  await inChunks(rowsMax, (rows) => deleteOldRollups(database, [property, ids, shown, rows]));
  await inChunks(rowsMax, (rows) => deleteOldDays(database, [property, ids, shown, rows]));
  await inChunks(rowsMax, (rows) => deleteOldSets(database, [property, ids, shown, rows]));
}
