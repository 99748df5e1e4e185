import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { UpdateMemberResponseSchema, type MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { decodeId, nilUuid } from "#shared/values/ids.ts";
import { checkName } from "../domain/names.ts";
import { areSameGrants } from "../domain/roles.ts";
import type { MemberContext } from "../members/context.ts";
import { readGrants } from "../members/grants.ts";
import { mustHave, noSuchMember, prepareRoles, toMember } from "../members/members.ts";
import { signalSessionEnding } from "../members/session-ending.ts";
import { endOtherSessions } from "../sql/member-sessions.ts";
import { lockMember, lockMembers, updateMember as update } from "../sql/members.ts";

export function updateMember({ database, signals }: MemberContext): ServiceImpl<typeof MemberService>["updateMember"] {
  return async ({ memberId, name, grants: wanted, keptSessionId }) => {
    const id = decodeId("mem", memberId, "member_id");
    const kept = keptSessionId === undefined ? nilUuid : decodeId("sess", keptSessionId, "kept_session_id");
    if (name !== undefined) checkName(name);
    const grants = await readGrants(database, wanted);
    const { row, hasNewRoles } = await withTransaction(database, async (tx) => {
      await lockMembers(tx, []);
      const [member] = await lockMember(tx, [id]);
      if (!member) throw noSuchMember();
      const isChange = grants.length > 0 && !areSameGrants(grants, member.grants);
      if (isChange) {
        await prepareRoles(tx, member, grants);
        await endOtherSessions(tx, [id, kept]);
      }
      const changed = await update(tx, [id, name ?? null, isChange ? JSON.stringify(grants) : null]);
      return { row: mustHave(changed), hasNewRoles: isChange };
    });
    // Gateways also read her rights anew in the session that is kept.
    if (hasNewRoles) signalSessionEnding(signals, id);
    return create(UpdateMemberResponseSchema, { member: toMember(row) });
  };
}
