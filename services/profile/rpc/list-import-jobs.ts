import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListImportJobsResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { listJobs } from "#shared/jobs/listing.ts";
import type { ProfileContext } from "../context.ts";
import { importJobs } from "../imports.ts";

export function listImportJobs(context: ProfileContext): ServiceImpl<typeof ProfileService>["listImportJobs"] {
  return async (request, { signal }) =>
    create(ListImportJobsResponseSchema, await listJobs(context, importJobs, request, signal));
}
