import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListInvitationsResponseSchema, type MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { MemberContext } from "../members/context.ts";
import { invitationsMax, toInvitation } from "../members/links.ts";
import { listInvitations as list } from "../sql/member-links.ts";

export function listInvitations({
  database,
  clock,
}: MemberContext): ServiceImpl<typeof MemberService>["listInvitations"] {
  return async () => {
    const rows = await list(database, [formatMicros(clock.nowMicros()), invitationsMax]);
    return create(ListInvitationsResponseSchema, { invitations: rows.map(toInvitation) });
  };
}
