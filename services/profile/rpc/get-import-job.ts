import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetImportJobResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { readJob } from "#shared/jobs/jobs.ts";
import type { ProfileContext } from "../context.ts";
import { importJobs, toImportJob } from "../imports.ts";

export function getImportJob(context: ProfileContext): ServiceImpl<typeof ProfileService>["getImportJob"] {
  return async (request) => {
    const row = await readJob(context, importJobs, request);
    return create(GetImportJobResponseSchema, { job: toImportJob(row) });
  };
}
