import { fromBinary } from "@bufbuild/protobuf";
import { RejectedWritesReportedSchema } from "#proto/daybook/event/v1/rejected_pb.ts";
import type { BusHandler } from "#shared/bus/bus.ts";
import type { WebhookContext } from "../context.ts";
import { fanOut } from "../fan-out.ts";
import { ofRejectedWrites } from "../happenings.ts";

/** Makes messages of writes that were refused. */
export function rejectedWritesReported(context: WebhookContext): BusHandler {
  return async (payloads) => {
    const reports = payloads.map(({ payload }) => fromBinary(RejectedWritesReportedSchema, payload));
    await fanOut(context, reports.map(ofRejectedWrites));
  };
}
