import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { EndSessionResponseSchema, type MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { MemberContext } from "../members/context.ts";
import { signalSessionEnding } from "../members/session-ending.ts";
import { endOtherSessions, endSession as endOne } from "../sql/member-sessions.ts";

export function endSession({ database, signals }: MemberContext): ServiceImpl<typeof MemberService>["endSession"] {
  return async ({ memberId, which }) => {
    const member = decodeId("mem", memberId, "member_id");
    if (which.case === undefined) {
      const message = "`session_id` or `all_but_session_id` is required.";
      throw new DaybookError("parameter_missing", message, { param: "session_id" });
    }
    const ended =
      which.case === "sessionId"
        ? await endOne(database, [member, decodeId("sess", which.value, "session_id")])
        : await endOtherSessions(database, [member, decodeId("sess", which.value, "all_but_session_id")]);
    if (ended.length > 0) signalSessionEnding(signals, member);
    return create(EndSessionResponseSchema, { ended: ended.length });
  };
}
