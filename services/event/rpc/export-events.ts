import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ExportEventsResponseSchema, type EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, nilUuid } from "#shared/values/ids.ts";
import { checkLimit, readPage } from "#shared/values/page.ts";
import { formatMicros, fromTimestamp, type Instant } from "#shared/values/time.ts";
import type { EventContext } from "../context.ts";
import { toEvent } from "../mapping.ts";
import type { EventRow } from "../sql/events.ts";
import { exportAnonymousEvents, exportProfileEvents } from "../sql/exports.ts";

const limitMax = 500;
// Small, so that whoever streams many pages holds little.
const pageBytesMax = 4 * 1024 * 1024;

export function exportEvents({ reads }: EventContext): ServiceImpl<typeof EventService>["exportEvents"] {
  return async ({ propertyId, subject, receivedUpTo, limit, after }, { signal }) => {
    checkLimit(limit, limitMax, "events");
    const property = decodeId("prop", propertyId, "property_id");
    const upTo: Instant = receivedUpTo ? formatMicros(fromTimestamp(receivedUpTo)) : "infinity";
    const begin = after && {
      time: after.time ? formatMicros(fromTimestamp(after.time)) : ("-infinity" as const),
      id: decodeId("evt", after.eventId, "after"),
    };
    const reader = reads.of(property, signal);
    const read = (place: Place | undefined, count: number): Promise<EventRow[]> => {
      const { time, id } = place ?? { time: "-infinity", id: nilUuid };
      if (subject.case === "profileId") {
        const profile = decodeId("prof", subject.value, "profile_id");
        return exportProfileEvents(reader, [property, profile, upTo, time, id, count]);
      }
      if (subject.case === "identifier") {
        const { type, value } = subject.value;
        return exportAnonymousEvents(reader, [property, type, value, upTo, id, count]);
      }
      throw new DaybookError("parameter_missing", "`subject` is required.", { param: "subject" });
    };
    const { rows, hasMore } = await readPage<EventRow, Place>(limit, begin, {
      read,
      placeOf: (row) => ({ time: formatMicros(row.occurred_at), id: row.id }),
      sizeOf: ({ properties }) => properties.length,
      bytesMax: pageBytesMax,
    });
    return create(ExportEventsResponseSchema, { events: rows.map(toEvent), hasMore });
  };
}

interface Place {
  time: Instant;
  id: EventRow["id"];
}
