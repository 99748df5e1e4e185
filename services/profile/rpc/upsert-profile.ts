import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { UpsertProfileResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { ProfileContext } from "../context.ts";
import { toProfile } from "../mapping.ts";
import { readUpsert, upsert } from "../upsert.ts";

export function upsertProfile(context: ProfileContext): ServiceImpl<typeof ProfileService>["upsertProfile"] {
  return async (request) => {
    const property = decodeId("prop", request.propertyId, "property_id");
    const { row, created, replayed } = await upsert(context, property, readUpsert(property, request));
    return create(UpsertProfileResponseSchema, { profile: toProfile(row), created, replayed });
  };
}
