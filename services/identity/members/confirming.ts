import { DaybookError } from "#shared/values/errors.ts";
import type { Uuid } from "#shared/values/ids.ts";
import { findSession } from "../sql/member-sessions.ts";
import { findMember, type MemberRow } from "../sql/members.ts";
import type { MemberContext } from "./context.ts";
import { openSinceInstants, signInRequired } from "./sessions.ts";
import { verifyPassword } from "./verifying.ts";

/**
 * Checks the password of the member of a session.
 * @throws DaybookError `sign_in_required` when the session has ended, `invalid_state_transition` when the member has no
 * password, and as verifyPassword does.
 */
export async function verifyInSession(
  context: MemberContext,
  sessionId: Uuid,
  password: string,
  address: string,
): Promise<MemberRow> {
  const { database, clock } = context;
  const [session] = await findSession(database, [sessionId, ...openSinceInstants(clock.nowMicros())]);
  const [member] = session ? await findMember(database, [session.member_id]) : [];
  if (!member) throw signInRequired();
  if (member.password_hash === null) {
    const message = "This member has no password, and signs in by the issuer.";
    throw new DaybookError("invalid_state_transition", message);
  }
  return verifyPassword(context, { email: member.email, password, address }, member);
}
