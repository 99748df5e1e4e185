/** Dependencies of the RPCs of members. */
import type { IdentityContext } from "../context.ts";
import type { Passwords } from "./passwords.ts";

export interface MemberContext extends IdentityContext {
  passwords: Passwords;
}
