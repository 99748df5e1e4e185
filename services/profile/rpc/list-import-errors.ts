import { create, fromBinary } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ErrorSchema } from "#proto/daybook/common/v1/error_pb.ts";
import { ListImportErrorsResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { listJobErrors } from "#shared/jobs/listing.ts";
import { encodeId } from "#shared/values/ids.ts";
import type { ProfileContext } from "../context.ts";
import { importJobs } from "../imports.ts";
import { importErrors } from "../sql/imports.ts";

export function listImportErrors(context: ProfileContext): ServiceImpl<typeof ProfileService>["listImportErrors"] {
  return async (request, { signal }) => {
    const { rows, hasMore } = await listJobErrors(context, importJobs, importErrors, request, signal);
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
