import { fromBinary } from "@bufbuild/protobuf";
import { WritesRejectedSchema } from "#proto/daybook/event/v1/rejected_pb.ts";
import type { BusHandler } from "#shared/bus/bus.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { EventContext } from "../context.ts";
import { readWrite } from "../domain/rejections.ts";
import { countRejected, reject, toldMicros } from "../rejecting.ts";

/** Counts and keeps items that import jobs refused. An item that comes again changes nothing. */
export function writesRejected(context: EventContext): BusHandler {
  const note = countRejected(context.registry);
  return async (messages) => {
    const writes = messages.flatMap(({ payload }) => fromBinary(WritesRejectedSchema, payload).writes);
    for (const [propertyId, some] of Map.groupBy(writes, (write) => write.propertyId)) {
      const property = decodeId("prop", propertyId, "property_id");
      const told = some.map(readWrite);
      const { counted, kept } = await withTransaction(context.database, (tx) =>
        reject(tx, context, property, told, toldMicros.message),
      );
      note("kept", kept);
      note("counted", counted - kept);
    }
  };
}
