import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { UpdateProfileResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { ProfileContext } from "../context.ts";
import { changeAttributes, toLocationChanges } from "../convert.ts";
import { changeLocation } from "../domain/location.ts";
import { listingFaults } from "../faults.ts";
import { toProfile } from "../mapping.ts";
import { writeToProfile } from "../writing.ts";

export function updateProfile(context: ProfileContext): ServiceImpl<typeof ProfileService>["updateProfile"] {
  return async (request) => {
    const { row, resolved } = await listingFaults(request, () =>
      writeToProfile(context, request, ({ attributes, location }) => ({
        attributes: changeAttributes(attributes, request),
        location: changeLocation(location, toLocationChanges(request.location)),
      })),
    );
    return create(UpdateProfileResponseSchema, { profile: toProfile(row), ...resolved });
  };
}
