import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { RemoveIdentifierResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import type { ProfileContext } from "../context.ts";
import { ownIdentifier } from "../holders.ts";
import { toProfile } from "../mapping.ts";
import { writeToProfile } from "../writing.ts";

export function removeIdentifier(context: ProfileContext): ServiceImpl<typeof ProfileService>["removeIdentifier"] {
  return async (request) => {
    const { row, resolved } = await writeToProfile(context, request, (current) => {
      const { id } = ownIdentifier(current, request.identifierId);
      if (current.identifiers.length === 1) {
        const message = "`identifier_id` names the last identifier of the profile. Add another before you remove it.";
        throw new DaybookError("last_identifier", message, { param: "identifier_id" });
      }
      return { removed: [id] };
    });
    return create(RemoveIdentifierResponseSchema, { profile: toProfile(row), ...resolved });
  };
}
