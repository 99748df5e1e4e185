import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListSessionsResponseSchema, type MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import { sessionsPerMemberMax } from "../domain/sessions.ts";
import type { MemberContext } from "../members/context.ts";
import { openSinceInstants, toSession } from "../members/sessions.ts";
import { listSessions as list } from "../sql/member-sessions.ts";

export function listSessions({ database, clock }: MemberContext): ServiceImpl<typeof MemberService>["listSessions"] {
  return async ({ memberId }) => {
    const id = decodeId("mem", memberId, "member_id");
    const rows = await list(database, [id, ...openSinceInstants(clock.nowMicros()), sessionsPerMemberMax]);
    return create(ListSessionsResponseSchema, { sessions: rows.map(toSession) });
  };
}
