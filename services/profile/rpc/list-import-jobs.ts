import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  ImportJobStatus,
  ListImportJobsResponseSchema,
  type ProfileService,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { oldestJob } from "#shared/jobs/jobs.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { ProfileContext } from "../context.ts";
import { importJobs, toImportJob } from "../imports.ts";

const limitMax = 500;

export function listImportJobs({ reads, clock }: ProfileContext): ServiceImpl<typeof ProfileService>["listImportJobs"] {
  return async ({ propertyId, statuses, ascending, limit, afterJobId }, { signal }) => {
    if (limit < 1 || limit > limitMax) {
      throw new DaybookError("parameter_invalid", `A page has 1 to ${limitMax} jobs.`, { param: "limit" });
    }
    const property = decodeId("prop", propertyId, "property_id");
    const after = afterJobId === undefined ? null : decodeId("job", afterJobId, "after_job_id");
    const isWanted = (status: ImportJobStatus): boolean => statuses.length === 0 || statuses.includes(status);
    const { listAscending, listDescending } = importJobs.statements;
    const list = ascending ? listAscending : listDescending;
    const rows = await list(reads.of(property, signal), [
      property,
      oldestJob(importJobs, clock),
      isWanted(ImportJobStatus.QUEUED),
      isWanted(ImportJobStatus.PROCESSING),
      isWanted(ImportJobStatus.COMPLETE),
      after,
      // One more than asked for tells whether more follow.
      limit + 1,
    ]);
    const jobs = rows.slice(0, limit).map(toImportJob);
    return create(ListImportJobsResponseSchema, { jobs, hasMore: rows.length > limit });
  };
}
