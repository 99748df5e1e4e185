import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  ImportJobStatus,
  ListImportJobsResponseSchema,
  type ProfileService,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { oldestJob } from "#shared/jobs/jobs.ts";
import { decodeId } from "#shared/values/ids.ts";
import { checkLimit, pageOf } from "#shared/values/page.ts";
import type { ProfileContext } from "../context.ts";
import { importJobs, toImportJob } from "../imports.ts";

const limitMax = 500;

export function listImportJobs({ reads, clock }: ProfileContext): ServiceImpl<typeof ProfileService>["listImportJobs"] {
  return async ({ propertyId, statuses, ascending, limit, afterJobId }, { signal }) => {
    checkLimit(limit, limitMax, "jobs");
    const property = decodeId("prop", propertyId, "property_id");
    const after = afterJobId === undefined ? null : decodeId("job", afterJobId, "after_job_id");
    const isWanted = (status: ImportJobStatus): boolean => statuses.length === 0 || statuses.includes(status);
    const { listAscending, listDescending } = importJobs.statements;
    const list = ascending ? listAscending : listDescending;
    const reader = reads.of(property, signal);
    const { rows, hasMore } = await pageOf(limit, (most) =>
      list(reader, [
        property,
        oldestJob(importJobs, clock),
        isWanted(ImportJobStatus.QUEUED),
        isWanted(ImportJobStatus.PROCESSING),
        isWanted(ImportJobStatus.COMPLETE),
        after,
        most,
      ]),
    );
    return create(ListImportJobsResponseSchema, { jobs: rows.map(toImportJob), hasMore });
  };
}
