import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetImportJobResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { ProfileContext } from "../context.ts";
import { readJob, toImportJob } from "../imports.ts";

export function getImportJob(context: ProfileContext): ServiceImpl<typeof ProfileService>["getImportJob"] {
  return async ({ propertyId, jobId }) => {
    const property = decodeId("prop", propertyId, "property_id");
    const row = await readJob(context, property, decodeId("job", jobId, "job_id"));
    return create(GetImportJobResponseSchema, { job: toImportJob(row) });
  };
}
