import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ConfirmPasswordResponseSchema, type MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import { freshForMicros } from "../domain/sessions.ts";
import { verifyInSession } from "../members/confirming.ts";
import type { MemberContext } from "../members/context.ts";
import { openSinceInstants, signInRequired, toSession } from "../members/sessions.ts";
import { refreshSession } from "../sql/member-sessions.ts";

export function confirmPassword(context: MemberContext): ServiceImpl<typeof MemberService>["confirmPassword"] {
  return async ({ sessionId, password, address }) => {
    const id = decodeId("sess", sessionId, "session_id");
    await verifyInSession(context, id, password, address);
    const now = context.clock.nowMicros();
    const [session] = await refreshSession(context.database, [
      id,
      formatMicros(now + freshForMicros),
      ...openSinceInstants(now),
    ]);
    if (!session) throw signInRequired();
    return create(ConfirmPasswordResponseSchema, { session: toSession(session) });
  };
}
