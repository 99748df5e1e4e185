import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  UpdateRejectedWriteSettingsResponseSchema,
  type RejectedWriteService,
} from "#proto/daybook/event/v1/rejected_pb.ts";
import { inChunks, withTransaction } from "#shared/database/postgres.ts";
import { decodeId } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { EventContext } from "../context.ts";
import { dayOf } from "../domain/rejections.ts";
import { lockKept, setKeepsPayloads } from "../sql/rejected-counts.ts";
import { deletePayloadsOf } from "../sql/rejected-writes.ts";

const rowsMax = 1_000;

export function updateRejectedWriteSettings({
  database,
  clock,
}: EventContext): ServiceImpl<typeof RejectedWriteService>["updateRejectedWriteSettings"] {
  return async ({ propertyId, keepsPayloads }) => {
    const property = decodeId("prop", propertyId, "property_id");
    await withTransaction(database, async (tx) => {
      // Whoever keeps a payload holds this lock, so none is kept once this is committed.
      await lockKept(tx, [property, formatMicros(dayOf(clock.nowMicros()))]);
      await setKeepsPayloads(tx, [property, keepsPayloads]);
    });
    // A call that ends early leaves the rest to a repeated one, or to their age.
    if (!keepsPayloads) await inChunks(rowsMax, (rows) => deletePayloadsOf(database, [property, rows]));
    return create(UpdateRejectedWriteSettingsResponseSchema, { keepsPayloads });
  };
}
