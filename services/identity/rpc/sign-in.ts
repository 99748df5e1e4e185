import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { SignInResponseSchema, type MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import type { MemberContext } from "../members/context.ts";
import { normalEmail, toMember } from "../members/members.ts";
import { beginSession, toSession } from "../members/sessions.ts";
import { verifyPassword, wrongPassword } from "../members/verifying.ts";
import { findMemberByEmail, lockMember } from "../sql/members.ts";

export function signIn(context: MemberContext): ServiceImpl<typeof MemberService>["signIn"] {
  const { database, clock } = context;
  return async ({ email: given, password, visitor }) => {
    // What is no email is counted as one that nobody has.
    const email = normalEmail(given) ?? "";
    const [found] = await findMemberByEmail(database, [email]);
    const proven = await verifyPassword(context, { email, password, address: visitor?.address ?? "" }, found);
    const { member, session, token } = await withTransaction(database, async (tx) => {
      const [locked] = await lockMember(tx, [proven.id]);
      // Removed, or given another password, while this one was checked.
      if (!locked || locked.password_hash !== proven.password_hash) throw wrongPassword();
      return { member: locked, ...(await beginSession(tx, clock, locked.id, visitor)) };
    });
    return create(SignInResponseSchema, { member: toMember(member), session: toSession(session), token });
  };
}
