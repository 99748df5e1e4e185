import { fromBinary } from "@bufbuild/protobuf";
import { ImportDueSchema } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { BusHandler } from "#shared/bus/bus.ts";
import type { ProfileContext } from "../context.ts";
import { importChunk } from "../imports.ts";

/** Does the chunks of import jobs that are asked for. One that comes again is done already. */
export function importDue(context: ProfileContext): BusHandler {
  return async (messages) => {
    for (const { payload } of messages) await importChunk(context, fromBinary(ImportDueSchema, payload));
  };
}
