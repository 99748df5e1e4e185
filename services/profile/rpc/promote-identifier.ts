import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { PromoteIdentifierResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { ProfileContext } from "../context.ts";
import { ownIdentifier } from "../holders.ts";
import { toProfile } from "../mapping.ts";
import { writeToProfile } from "../writing.ts";

export function promoteIdentifier(context: ProfileContext): ServiceImpl<typeof ProfileService>["promoteIdentifier"] {
  return async (request) => {
    const { row, resolved } = await writeToProfile(context, request, (current) => ({
      promoted: [ownIdentifier(current, request.identifierId).id],
    }));
    return create(PromoteIdentifierResponseSchema, { profile: toProfile(row), ...resolved });
  };
}
