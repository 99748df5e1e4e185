import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { RevokeInvitationResponseSchema, type MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { MemberContext } from "../members/context.ts";
import { endInvitation } from "../sql/member-links.ts";

export function revokeInvitation({ database }: MemberContext): ServiceImpl<typeof MemberService>["revokeInvitation"] {
  return async ({ invitationId }) => {
    await endInvitation(database, [decodeId("inv", invitationId, "invitation_id")]);
    return create(RevokeInvitationResponseSchema);
  };
}
