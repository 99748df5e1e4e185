import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetWatermarkResponseSchema, type EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import { toTimestamp } from "#shared/values/time.ts";
import type { EventContext } from "../context.ts";
import { watermarkMax } from "../low-watermark.ts";
import { recordedSubject } from "../storing.ts";
import { readWatermark } from "../sql/writers.ts";

const batchesMax = 1_000;

export function getWatermark({ database, clock }: EventContext): ServiceImpl<typeof EventService>["getWatermark"] {
  return async ({ propertyId }) => {
    const property = decodeId("prop", propertyId, "property_id");
    // One more row than returned shows whether there are more.
    const rows = await readWatermark(database, [property, recordedSubject, watermarkMax(clock), batchesMax + 1]);
    const [first] = rows;
    if (!first) throw new Error("there is always a watermark");
    const waiting = rows.flatMap(({ batch_id: batchId, received_at: receivedAt }) =>
      batchId === null || receivedAt === null ? [] : [{ batchId, receivedAt: toTimestamp(receivedAt) }],
    );
    return create(GetWatermarkResponseSchema, {
      recordedUpTo: toTimestamp(first.recorded_up_to),
      waiting: waiting.slice(0, batchesMax),
      hasMore: waiting.length > batchesMax,
    });
  };
}
