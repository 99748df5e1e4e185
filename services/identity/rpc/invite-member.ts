import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { InviteMemberResponseSchema, type MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, newUuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import { hasEverywhere } from "../domain/roles.ts";
import { hashSecret } from "../domain/secret.ts";
import { invitationMicros } from "../domain/sessions.ts";
import { newToken } from "../domain/token.ts";
import type { MemberContext } from "../members/context.ts";
import { readGrants } from "../members/grants.ts";
import { invitationsMax, toInvitation } from "../members/links.ts";
import { mustHave, noSuchMember, readEmail } from "../members/members.ts";
import { countInvitations, endInvitationsTo, insertLink } from "../sql/member-links.ts";
import { findMember, findMemberByEmail, lockMembers } from "../sql/members.ts";

export function inviteMember({ database, clock }: MemberContext): ServiceImpl<typeof MemberService>["inviteMember"] {
  return async ({ email: given, grants: wanted, invitedBy }) => {
    const email = readEmail(given);
    const inviter = invitedBy === undefined ? null : decodeId("mem", invitedBy, "invited_by");
    const grants = await readGrants(database, wanted);
    const now = clock.nowMicros();
    const token = newToken();
    const row = await withTransaction(database, async (tx) => {
      await lockMembers(tx, []);
      if (inviter !== null) {
        const [by] = await findMember(tx, [inviter]);
        if (!by) throw noSuchMember("invited_by");
        // Else a role in one property could be turned into one in all.
        if (!hasEverywhere(by.grants, "members:manage")) {
          throw new DaybookError("missing_scope", "Only an admin of all properties invites members.");
        }
      }
      const [member] = await findMemberByEmail(tx, [email]);
      if (!member && grants.length === 0) {
        const message = "`grants` is required for a new member: at least one role.";
        throw new DaybookError("parameter_missing", message, { param: "grants" });
      }
      await endInvitationsTo(tx, [email]);
      const [open] = await countInvitations(tx, [formatMicros(now)]);
      if ((open?.count ?? 0) >= invitationsMax) {
        throw new DaybookError("too_many_items", `There are at most ${invitationsMax} open invitations. Revoke some.`);
      }
      return mustHave(
        await insertLink(tx, [
          newUuid(),
          hashSecret(token),
          email,
          JSON.stringify(grants),
          inviter,
          formatMicros(now),
          formatMicros(now + invitationMicros),
        ]),
      );
    });
    return create(InviteMemberResponseSchema, { invitation: toInvitation(row), token });
  };
}
