import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListEventJobsResponseSchema, type EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { listJobs } from "#shared/jobs/listing.ts";
import type { EventContext } from "../context.ts";
import { eventJobs } from "../jobs.ts";

export function listEventJobs(context: EventContext): ServiceImpl<typeof EventService>["listEventJobs"] {
  return async (request, { signal }) =>
    create(ListEventJobsResponseSchema, await listJobs(context, eventJobs, request, signal));
}
