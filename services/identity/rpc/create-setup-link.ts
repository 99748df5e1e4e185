import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { CreateSetupLinkResponseSchema, type MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { newUuid } from "#shared/values/ids.ts";
import { formatMicros, toTimestamp } from "#shared/values/time.ts";
import { hashSecret } from "../domain/secret.ts";
import { setupLinkMicros } from "../domain/sessions.ts";
import { newToken } from "../domain/token.ts";
import type { MemberContext } from "../members/context.ts";
import { endSetupLinks, insertLink } from "../sql/member-links.ts";
import { findAnyMember, lockMembers } from "../sql/members.ts";

const firstGrants = JSON.stringify([{ property_id: null, role: "admin" }]);

export function createSetupLink({
  database,
  clock,
}: MemberContext): ServiceImpl<typeof MemberService>["createSetupLink"] {
  return async () => {
    const now = clock.nowMicros();
    const expiresAt = now + setupLinkMicros;
    const token = newToken();
    await withTransaction(database, async (tx) => {
      await lockMembers(tx, []);
      const [member] = await findAnyMember(tx, []);
      if (member) {
        const message = "There is a member already. Ask an admin for an invitation, or make one at the command line.";
        throw new DaybookError("invalid_state_transition", message);
      }
      await endSetupLinks(tx, []);
      const id = newUuid();
      await insertLink(tx, [
        id,
        hashSecret(token),
        null,
        firstGrants,
        null,
        formatMicros(now),
        formatMicros(expiresAt),
      ]);
    });
    return create(CreateSetupLinkResponseSchema, { token, expiresAt: toTimestamp(expiresAt) });
  };
}
