import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { UpdateProfileResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { ProfileContext } from "../context.ts";
import { toProfile } from "../mapping.ts";
import { update } from "../update.ts";

export function updateProfile(context: ProfileContext): ServiceImpl<typeof ProfileService>["updateProfile"] {
  return async (request) => {
    const { row, resolved } = await update(context, request);
    return create(UpdateProfileResponseSchema, { profile: toProfile(row), ...resolved });
  };
}
