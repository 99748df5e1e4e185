import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  ImportJobStatus,
  ListImportJobsResponseSchema,
  type ProfileService,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { ProfileContext } from "../context.ts";
import { oldestJob, toImportJob } from "../imports.ts";
import { listImportJobs as list } from "../sql/imports.ts";

const limitMax = 500;

export function listImportJobs({ reads, clock }: ProfileContext): ServiceImpl<typeof ProfileService>["listImportJobs"] {
  return async ({ propertyId, statuses, ascending, limit, afterJobId }, { signal }) => {
    if (limit < 1 || limit > limitMax) {
      throw new DaybookError("parameter_invalid", `A page has 1 to ${limitMax} jobs.`, { param: "limit" });
    }
    const property = decodeId("prop", propertyId, "property_id");
    const after = afterJobId === undefined ? null : decodeId("job", afterJobId, "after_job_id");
    const isWanted = (status: ImportJobStatus): boolean => statuses.length === 0 || statuses.includes(status);
    const rows = await list[ascending ? "ascending" : "descending"](reads.of(property, signal), [
      property,
      oldestJob(clock.nowMicros()),
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
