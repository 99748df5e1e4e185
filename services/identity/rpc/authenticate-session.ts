import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { AuthenticateSessionResponseSchema, type MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { formatMicros, toTimestamp } from "#shared/values/time.ts";
import { usedAgainMicros } from "../domain/sessions.ts";
import { tokenHashBytes } from "../domain/token.ts";
import type { MemberContext } from "../members/context.ts";
import { toMember } from "../members/members.ts";
import { openSinceInstants, signInRequired, toSession } from "../members/sessions.ts";
import { findSessionByHash, noteSessionUse } from "../sql/member-sessions.ts";
import { findMember } from "../sql/members.ts";

export function authenticateSession({
  database,
  clock,
}: MemberContext): ServiceImpl<typeof MemberService>["authenticateSession"] {
  return async ({ tokenHash }) => {
    if (tokenHash.length !== tokenHashBytes) throw signInRequired();
    const now = clock.nowMicros();
    const [session] = await findSessionByHash(database, [Buffer.from(tokenHash), ...openSinceInstants(now)]);
    const [member] = session ? await findMember(database, [session.member_id]) : [];
    if (!session || !member) throw signInRequired();
    const isUsedAgain = session.last_used_at <= now - usedAgainMicros;
    if (isUsedAgain) {
      await noteSessionUse(database, [session.id, formatMicros(now), formatMicros(now - usedAgainMicros)]);
    }
    return create(AuthenticateSessionResponseSchema, {
      member: toMember(isUsedAgain ? { ...member, last_seen_at: now } : member),
      session: toSession(isUsedAgain ? { ...session, last_used_at: now } : session),
      now: toTimestamp(now),
    });
  };
}
