import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetEventJobResponseSchema, type EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { readJob } from "#shared/jobs/jobs.ts";
import { showJob } from "#shared/jobs/listing.ts";
import type { EventContext } from "../context.ts";
import { eventJobs } from "../jobs.ts";

export function getEventJob(context: EventContext): ServiceImpl<typeof EventService>["getEventJob"] {
  return async (request) =>
    create(GetEventJobResponseSchema, { job: showJob(await readJob(context, eventJobs, request), eventJobs) });
}
