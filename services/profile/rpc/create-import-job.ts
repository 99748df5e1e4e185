import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  CreateImportJobResponseSchema,
  type ImportItem,
  type ProfileService,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import type { Jobs } from "#shared/jobs/jobs.ts";
import { toImportJob } from "../imports.ts";

export function createImportJob(jobs: Jobs<ImportItem>): ServiceImpl<typeof ProfileService>["createImportJob"] {
  return async (request) => create(CreateImportJobResponseSchema, { job: toImportJob(await jobs.create(request)) });
}
