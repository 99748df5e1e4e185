/** What callers see of jobs. Each service has its own messages for it, with the same fields. */
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { ServiceContext } from "../process/service.ts";
import { decodeId, encodeId } from "../values/ids.ts";
import { checkLimit, pageOf } from "../values/page.ts";
import { toTimestamp } from "../values/time.ts";
import { oldestJob, readJob, type JobKind } from "./jobs.ts";
import type { JobErrorRow, JobErrorStatements, JobRow } from "./sql.ts";

/** The states of a job; the enums of the messages have the same numbers. */
const jobStatus = { queued: 1, processing: 2, complete: 3 } as const;

/** The fields of a job. */
export interface ShownJob {
  id: string;
  status: (typeof jobStatus)[keyof typeof jobStatus];
  totalCount: number;
  completedCount: number;
  failedCount: number;
  createdAt: Timestamp;
  startedAt: Timestamp | undefined;
  completedAt: Timestamp | undefined;
  expiresAt: Timestamp;
}

export function showJob(row: JobRow, { retentionMicros }: JobKind): ShownJob {
  const status =
    row.started_at === null ? jobStatus.queued : row.completed_at === null ? jobStatus.processing : jobStatus.complete;
  return {
    id: encodeId("job", row.id),
    status,
    totalCount: row.total_count,
    completedCount: row.completed_count,
    failedCount: row.failed_count,
    createdAt: toTimestamp(row.created_at),
    startedAt: toTimestamp(row.started_at),
    completedAt: toTimestamp(row.completed_at),
    expiresAt: toTimestamp(row.created_at + retentionMicros),
  };
}

const limitMax = 500;

type Context = Pick<ServiceContext, "database" | "reads" | "clock">;

/** Reads one page of the jobs of a property. */
export async function listJobs(
  { reads, clock }: Context,
  kind: JobKind,
  request: {
    propertyId: string;
    statuses: readonly number[];
    ascending: boolean;
    limit: number;
    afterJobId?: string | undefined;
  },
  signal: AbortSignal,
): Promise<{ jobs: ShownJob[]; hasMore: boolean }> {
  const { propertyId, statuses, ascending, limit, afterJobId } = request;
  checkLimit(limit, limitMax, "jobs");
  const property = decodeId("prop", propertyId, "property_id");
  const after = afterJobId === undefined ? null : decodeId("job", afterJobId, "after_job_id");
  const isWanted = (status: number): boolean => statuses.length === 0 || statuses.includes(status);
  const { listAscending, listDescending } = kind.statements;
  const list = ascending ? listAscending : listDescending;
  const reader = reads.of(property, signal);
  const { rows, hasMore } = await pageOf(limit, (most) =>
    list(reader, [
      property,
      oldestJob(kind, clock),
      isWanted(jobStatus.queued),
      isWanted(jobStatus.processing),
      isWanted(jobStatus.complete),
      after,
      most,
    ]),
  );
  return { jobs: rows.map((row) => showJob(row, kind)), hasMore };
}

/** Reads one page of the refused items of a job. @throws DaybookError as readJob does. */
export async function listJobErrors(
  context: Context,
  kind: JobKind,
  statements: JobErrorStatements,
  request: { propertyId: string; jobId: string; limit: number; afterItem?: number | undefined },
  signal: AbortSignal,
): Promise<{ rows: JobErrorRow[]; hasMore: boolean }> {
  const { limit, afterItem = -1 } = request;
  checkLimit(limit, limitMax, "errors");
  const { property_id: property, id: job } = await readJob(context, kind, request);
  const reader = context.reads.of(property, signal);
  return pageOf(limit, (most) => statements.list(reader, [property, job, afterItem, most]));
}
