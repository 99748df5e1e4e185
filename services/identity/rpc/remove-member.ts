import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { RemoveMemberResponseSchema, type MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { MemberContext } from "../members/context.ts";
import { noSuchMember, prepareRoles } from "../members/members.ts";
import { signalSessionEnding } from "../members/session-ending.ts";
import { endInvitationsTo } from "../sql/member-links.ts";
import { deleteMember, lockMember, lockMembers } from "../sql/members.ts";

export function removeMember({ database, signals }: MemberContext): ServiceImpl<typeof MemberService>["removeMember"] {
  return async ({ memberId }) => {
    const id = decodeId("mem", memberId, "member_id");
    await withTransaction(database, async (tx) => {
      await lockMembers(tx, []);
      const [member] = await lockMember(tx, [id]);
      if (!member) throw noSuchMember();
      await prepareRoles(tx, member, []);
      await endInvitationsTo(tx, [member.email]);
      await deleteMember(tx, [id]);
    });
    signalSessionEnding(signals, id);
    return create(RemoveMemberResponseSchema);
  };
}
