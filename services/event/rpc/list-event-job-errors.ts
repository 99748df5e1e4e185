import { create, fromBinary } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ErrorSchema } from "#proto/daybook/common/v1/error_pb.ts";
import { ListEventJobErrorsResponseSchema, type EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { listJobErrors } from "#shared/jobs/listing.ts";
import { encodeId } from "#shared/values/ids.ts";
import type { EventContext } from "../context.ts";
import { eventJobs } from "../jobs.ts";
import { eventJobErrors } from "../sql/job-errors.ts";

export function listEventJobErrors(context: EventContext): ServiceImpl<typeof EventService>["listEventJobErrors"] {
  return async (request, { signal }) => {
    const { rows, hasMore } = await listJobErrors(context, eventJobs, eventJobErrors, request, signal);
    return create(ListEventJobErrorsResponseSchema, {
      errors: rows.map(({ id, item, error, original_json: type }) => ({
        id: encodeId("err", id),
        item,
        error: fromBinary(ErrorSchema, error),
        type: JSON.parse(type) as string,
      })),
      hasMore,
    });
  };
}
