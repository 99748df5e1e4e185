import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { TailEventsResponseSchema, type EventPosition, type EventService } from "#proto/daybook/event/v1/event_pb.ts";
import type { Queryable } from "#shared/database/postgres.ts";
import { onwardReadOptions } from "#shared/rpc/interceptors.ts";
import type { Micros } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, encodeId, highestUuid, type Uuid } from "#shared/values/ids.ts";
import { formatMicros, fromTimestamp, toTimestamp } from "#shared/values/time.ts";
import type { EventContext } from "../context.ts";
import { toEvent } from "../mapping.ts";
import { findIdsOf, readAsSurvivors } from "../attribution.ts";
import { watermarkMax } from "../low-watermark.ts";
import { readEvents, type EventRow } from "../sql/events.ts";
import { tailEvents as tail } from "../sql/tail.ts";
import { readLowestWatermark } from "../sql/writers.ts";

const eventsMax = 200;
const scannedMax = 100_000;
// Events beyond it are skipped, because a reader of the tail asks again every second.
const bytesMax = 4 * 1024 * 1024;
// Events of one read.
const stepMax = 20;
// Of years that a Date can hold.
const latestMicros = 253_402_300_799_000_000;

interface Place {
  time: Micros;
  id: Uuid;
}

export function tailEvents({ reads, clock, profiles }: EventContext): ServiceImpl<typeof EventService>["tailEvents"] {
  return async (request, handlerContext) => {
    const { propertyId, profileId, limit } = request;
    if (limit < 0 || limit > eventsMax) {
      const message = `\`limit\` must be a whole number from 0 to ${eventsMax}.`;
      throw new DaybookError("parameter_invalid", message, { param: "limit" });
    }
    const property = decodeId("prop", propertyId, "property_id");
    const after = request.after && placeOf(request.after);
    const options = onwardReadOptions(handlerContext);
    const wanted = profileId === undefined ? undefined : encodeId("prof", decodeId("prof", profileId, "profile_id"));
    const ids = wanted === undefined ? undefined : await findIdsOf(profiles, propertyId, wanted, options);
    const reader = reads.of(property, handlerContext.signal);
    // Read before the events, so that all of them up to the watermark are found.
    const [row] = await readLowestWatermark(reader, [watermarkMax(clock)]);
    if (!row) throw new Error("there is always a watermark");
    const recordedUpTo = row.recorded_up_to;
    // No event has this place, and none that comes later is before it.
    const end: Place = { time: recordedUpTo, id: highestUuid };
    const answer = (position: Place, skipped: number, hasMore: boolean) =>
      create(TailEventsResponseSchema, {
        skipped: BigInt(skipped),
        position: { time: toTimestamp(position.time), eventId: encodeId("evt", position.id) },
        recordedUpTo: toTimestamp(recordedUpTo),
        hasMore,
      });
    if (!after) return answer(end, 0, false);
    // The clock of another process may have been ahead.
    if (after.time > recordedUpTo) return answer(after, 0, false);
    const [found] = await tail(reader, [
      property,
      formatMicros(after.time),
      after.id,
      formatMicros(recordedUpTo),
      scannedMax,
      limit,
      // Types are stored with dots. An invalid type matches no event.
      request.type?.replaceAll("_", ".") ?? null,
      request.source ?? null,
      request.withoutSystem,
      ids?.map((id) => decodeId("prof", id, "profile_id")) ?? null,
    ]);
    if (!found) throw new Error("a count has a row");
    const { scanned, last_received_at: lastTime, last_id: lastId } = found;
    const hasMore = scanned === scannedMax && lastTime !== null && lastId !== null;
    const rows = await readShown(reader, property, found.ids);
    const response = answer(hasMore ? { time: lastTime, id: lastId } : end, found.wanted - rows.length, hasMore);
    response.events = rows.map(toEvent);
    await readAsSurvivors(profiles, propertyId, response.events, options);
    return response;
  };
}

/** Reads events in the order of their ids, up to a number of bytes. */
async function readShown(reader: Queryable, property: Uuid, ids: readonly Uuid[]): Promise<EventRow[]> {
  const shown: EventRow[] = [];
  let bytes = 0;
  for (let from = 0; from < ids.length; from += stepMax) {
    const step = ids.slice(from, from + stepMax);
    const rows = new Map((await readEvents(reader, [property, step])).map((row) => [row.id, row]));
    for (const id of step) {
      const row = rows.get(id);
      if (!row) continue;
      bytes += row.properties.length;
      if (bytes > bytesMax && shown.length > 0) return shown;
      shown.push(row);
    }
  }
  return shown;
}

function placeOf({ time, eventId }: EventPosition): Place {
  if (!time) throw new DaybookError("parameter_missing", "`after.time` is missing.", { param: "after.time" });
  const micros = fromTimestamp(time);
  if (micros < 0 || micros > latestMicros) {
    throw new DaybookError("parameter_invalid", "`after.time` must lie between 1970 and 9999.", {
      param: "after.time",
    });
  }
  return { time: micros, id: decodeId("evt", eventId, "after.event_id") };
}
