import { create, fromBinary } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ErrorSchema } from "#proto/daybook/common/v1/error_pb.ts";
import { ListImportErrorsResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { readJob } from "#shared/jobs/jobs.ts";
import { encodeId } from "#shared/values/ids.ts";
import { checkLimit, pageOf } from "#shared/values/page.ts";
import type { ProfileContext } from "../context.ts";
import { importJobs } from "../imports.ts";
import { importErrors } from "../sql/imports.ts";

const limitMax = 500;

export function listImportErrors(context: ProfileContext): ServiceImpl<typeof ProfileService>["listImportErrors"] {
  return async ({ limit, afterItem = -1, ...named }, { signal }) => {
    checkLimit(limit, limitMax, "errors");
    const { property_id: property, id: job } = await readJob(context, importJobs, named);
    const reader = context.reads.of(property, signal);
    const { rows, hasMore } = await pageOf(limit, (most) =>
      importErrors.list(reader, [property, job, afterItem, most]),
    );
    return create(ListImportErrorsResponseSchema, {
      errors: rows.map(({ id, item, error, original_json: originalJson }) => ({
        id: encodeId("err", id),
        item,
        error: fromBinary(ErrorSchema, error),
        originalJson,
      })),
      hasMore,
    });
  };
}
