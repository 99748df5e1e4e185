import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  CreateEventJobResponseSchema,
  type EventJobItem,
  type EventService,
} from "#proto/daybook/event/v1/event_pb.ts";
import type { Jobs } from "#shared/jobs/jobs.ts";

export function createEventJob(jobs: Jobs<EventJobItem>): ServiceImpl<typeof EventService>["createEventJob"] {
  return async (request) => {
    await jobs.create(request);
    return create(CreateEventJobResponseSchema);
  };
}
