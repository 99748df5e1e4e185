import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { RedactProfileResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { decodeId, encodeId } from "#shared/values/ids.ts";
import type { ProfileContext } from "../context.ts";
import { toProfile } from "../mapping.ts";
import { redactPerson } from "../redaction.ts";

export function redactProfile(context: ProfileContext): ServiceImpl<typeof ProfileService>["redactProfile"] {
  return async (request) => {
    const property = decodeId("prop", request.propertyId, "property_id");
    const id = decodeId("prof", request.profileId, "profile_id");
    const { row } = await redactPerson(context, property, id);
    return create(RedactProfileResponseSchema, {
      profile: toProfile(row),
      resolvedFrom: row.id === id ? undefined : encodeId("prof", id),
    });
  };
}
