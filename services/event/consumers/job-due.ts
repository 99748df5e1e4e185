import { fromBinary } from "@bufbuild/protobuf";
import { EventJobDueSchema } from "#proto/daybook/event/v1/event_pb.ts";
import type { BusHandler } from "#shared/bus/bus.ts";
import type { EventContext } from "../context.ts";
import { recordChunk } from "../jobs.ts";

/** Does the chunks of jobs that are asked for. One that comes again is done already. */
export function jobDue(context: EventContext): BusHandler {
  return async (messages) => {
    for (const { payload } of messages) await recordChunk(context, fromBinary(EventJobDueSchema, payload));
  };
}
