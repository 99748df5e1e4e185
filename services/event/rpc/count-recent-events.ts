import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { CountRecentEventsResponseSchema, type EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { formatMicros, toTimestamp } from "#shared/values/time.ts";
import type { EventContext } from "../context.ts";
import { watermarkMax } from "../low-watermark.ts";
import { countRecent } from "../sql/counts.ts";
import { readLowestWatermark } from "../sql/writers.ts";

const minutesMax = 60;
const minuteMicros = 60 * 1_000_000;
const eventsMax = 100_000;

export function countRecentEvents({
  reads,
  clock,
}: EventContext): ServiceImpl<typeof EventService>["countRecentEvents"] {
  return async ({ propertyId, minutes, withoutSystem }, { signal }) => {
    const property = decodeId("prop", propertyId, "property_id");
    if (minutes < 1 || minutes > minutesMax) {
      const message = `\`minutes\` must be a whole number from 1 to ${minutesMax}.`;
      throw new DaybookError("parameter_invalid", message, { param: "minutes" });
    }
    const reader = reads.of(property, signal);
    // Read before the events, so that all of them up to the watermark are counted.
    const [row] = await readLowestWatermark(reader, [watermarkMax(clock)]);
    if (!row) throw new Error("there is always a watermark");
    const upTo = row.recorded_up_to;
    const last = Math.floor(upTo / minuteMicros) * minuteMicros;
    const starts = Array.from({ length: minutes }, (_, index) => last - (minutes - 1 - index) * minuteMicros);
    const from = starts[0] ?? last;
    const rows = await countRecent(reader, [property, formatMicros(from), formatMicros(upTo), eventsMax + 1]);
    const total = rows.reduce((sum, { count }) => sum + count, 0);
    const isCut = total > eventsMax;
    // The earliest minute that was read may have more events.
    const earliest = isCut ? Math.min(...rows.map(({ minute }) => minute)) : Number.NEGATIVE_INFINITY;
    const countOf = new Map(
      rows.map((counted) => [counted.minute, counted.count - (withoutSystem ? counted.system_count : 0)]),
    );
    return create(CountRecentEventsResponseSchema, {
      minutes: starts
        .filter((start) => start > earliest)
        .map((start) => ({ startsAt: toTimestamp(start), count: BigInt(countOf.get(start) ?? 0) })),
      recordedUpTo: toTimestamp(upTo),
      isCut,
    });
  };
}
