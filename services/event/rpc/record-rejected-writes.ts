import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { RecordRejectedWritesResponseSchema, type RejectedWriteService } from "#proto/daybook/event/v1/rejected_pb.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { EventContext } from "../context.ts";
import { readCount, readWrite } from "../domain/rejections.ts";
import { countRejected, reject, toldMicros } from "../rejecting.ts";

const itemsMax = 1_000;

export function recordRejectedWrites(
  context: EventContext,
): ServiceImpl<typeof RejectedWriteService>["recordRejectedWrites"] {
  const note = countRejected(context.registry);
  return async ({ writes, counts }) => {
    if (writes.length > itemsMax || counts.length > itemsMax) {
      const message = `A call has at most ${itemsMax} rejected writes, and as many counts.`;
      throw new DaybookError("too_many_items", message, { param: "writes" });
    }
    const told = [
      ...writes.map((write) => ({ propertyId: write.propertyId, counted: readWrite(write) })),
      ...counts.map((count) => ({ propertyId: count.propertyId, counted: readCount(count) })),
    ];
    for (const [propertyId, group] of Map.groupBy(told, (item) => item.propertyId)) {
      const property = decodeId("prop", propertyId, "property_id");
      const { counted, kept } = await withTransaction(context.database, (tx) =>
        reject(
          tx,
          context,
          property,
          group.map((item) => item.counted),
          toldMicros.call,
        ),
      );
      note("kept", kept);
      note("counted", counted - kept);
    }
    return create(RecordRejectedWritesResponseSchema);
  };
}
