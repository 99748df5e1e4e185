import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetRejectedWriteResponseSchema, type RejectedWriteService } from "#proto/daybook/event/v1/rejected_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { EventContext } from "../context.ts";
import { toRejectedWrite } from "../rejected-mapping.ts";
import { oldestWrite } from "../rejected-retention.ts";
import { readWrite } from "../sql/rejected-writes.ts";

export function getRejectedWrite({
  reads,
  clock,
}: EventContext): ServiceImpl<typeof RejectedWriteService>["getRejectedWrite"] {
  return async ({ propertyId, rejectedWriteId }, { signal }) => {
    const property = decodeId("prop", propertyId, "property_id");
    const id = decodeId("rej", rejectedWriteId, "rejected_write_id");
    const [row] = await readWrite(reads.of(property, signal), [property, id, oldestWrite(clock)]);
    if (!row) {
      throw new DaybookError("resource_not_found", "There is no such rejected write.", { param: "rejected_write_id" });
    }
    return create(GetRejectedWriteResponseSchema, { write: toRejectedWrite(property, row, row.payload) });
  };
}
