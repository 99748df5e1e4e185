import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ChangePasswordResponseSchema, type MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { readNewPassword } from "../domain/password.ts";
import { verifyInSession } from "../members/confirming.ts";
import type { MemberContext } from "../members/context.ts";
import { signalSessionEnding } from "../members/session-ending.ts";
import { wrongPassword } from "../members/verifying.ts";
import { endOtherSessions } from "../sql/member-sessions.ts";
import { lockMember, setPassword } from "../sql/members.ts";

export function changePassword(context: MemberContext): ServiceImpl<typeof MemberService>["changePassword"] {
  const { database, passwords, signals } = context;
  return async ({ sessionId, currentPassword, newPassword, address }) => {
    const id = decodeId("sess", sessionId, "session_id");
    const read = readNewPassword(newPassword, "new_password");
    if ("error" in read) throw DaybookError.ofFields([read.error]);
    const proven = await verifyInSession(context, id, currentPassword, address);
    const passwordHash = await passwords.hash(read.password, address);
    await withTransaction(database, async (tx) => {
      const [locked] = await lockMember(tx, [proven.id]);
      // Of two changes at the same time, the second no longer knows the password.
      if (!locked || locked.password_hash !== proven.password_hash) throw wrongPassword();
      await setPassword(tx, [proven.id, passwordHash]);
      await endOtherSessions(tx, [proven.id, id]);
    });
    signalSessionEnding(signals, proven.id);
    return create(ChangePasswordResponseSchema);
  };
}
