import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListMembersResponseSchema, type MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { decodeId, nilUuid } from "#shared/values/ids.ts";
import { checkLimit, pageOf } from "#shared/values/page.ts";
import type { MemberContext } from "../members/context.ts";
import { toMember } from "../members/members.ts";
import { listMembers as list } from "../sql/members.ts";

const limitMax = 500;

export function listMembers({ database }: MemberContext): ServiceImpl<typeof MemberService>["listMembers"] {
  return async ({ limit, afterMemberId }) => {
    checkLimit(limit, limitMax, "members");
    const after = afterMemberId === undefined ? nilUuid : decodeId("mem", afterMemberId, "after_member_id");
    const { rows, hasMore } = await pageOf(limit, (most) => list(database, [after, most]));
    return create(ListMembersResponseSchema, { members: rows.map(toMember), hasMore });
  };
}
