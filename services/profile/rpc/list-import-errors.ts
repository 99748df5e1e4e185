import { create, fromBinary } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ErrorSchema } from "#proto/daybook/common/v1/error_pb.ts";
import { ListImportErrorsResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { readJob } from "#shared/jobs/jobs.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { encodeId } from "#shared/values/ids.ts";
import type { ProfileContext } from "../context.ts";
import { importJobs } from "../imports.ts";
import { importErrors } from "../sql/imports.ts";

const limitMax = 500;

export function listImportErrors(context: ProfileContext): ServiceImpl<typeof ProfileService>["listImportErrors"] {
  return async ({ limit, afterItem = -1, ...named }, { signal }) => {
    if (limit < 1 || limit > limitMax) {
      throw new DaybookError("parameter_invalid", `A page has 1 to ${limitMax} errors.`, { param: "limit" });
    }
    const { property_id: property, id: job } = await readJob(context, importJobs, named);
    const rows = await importErrors.list(context.reads.of(property, signal), [property, job, afterItem, limit + 1]);
    return create(ListImportErrorsResponseSchema, {
      errors: rows.slice(0, limit).map(({ id, item, error, original_json: originalJson }) => ({
        id: encodeId("err", id),
        item,
        error: fromBinary(ErrorSchema, error),
        originalJson,
      })),
      hasMore: rows.length > limit,
    });
  };
}
