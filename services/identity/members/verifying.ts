/** Checks that somebody knows the password of a member. */
import { DaybookError } from "#shared/values/errors.ts";
import type { MemberRow } from "../sql/members.ts";
import { beginAttempt } from "./attempts.ts";
import type { MemberContext } from "./context.ts";

/**
 * Checks a password, at the same cost and with the same answers whether the email has a member or not.
 * @param email in normal form.
 * @param member undefined when nobody has the email.
 * @throws DaybookError `wrong_password`, or `rate_limited`.
 */
export async function verifyPassword(
  context: MemberContext,
  given: { email: string; password: string; address: string },
  member: MemberRow | undefined,
): Promise<MemberRow> {
  const { email, password, address } = given;
  const attempt = await beginAttempt(context, email, address);
  let isRight: boolean;
  try {
    isRight = await context.passwords.verify(password, member?.password_hash, address);
  } catch (error) {
    await attempt.withdraw();
    throw error;
  }
  if (!isRight || !member) throw wrongPassword();
  await attempt.succeed();
  return member;
}

export function wrongPassword(): DaybookError {
  return new DaybookError("wrong_password", "The email or the password is not right.");
}
