import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetLinkResponseSchema, type MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { formatMicros, toTimestamp } from "#shared/values/time.ts";
import type { MemberContext } from "../members/context.ts";
import { noSuchLink, readTokenHash } from "../members/links.ts";
import { findLink } from "../sql/member-links.ts";
import { findMemberByEmail } from "../sql/members.ts";

export function getLink({ database, clock }: MemberContext): ServiceImpl<typeof MemberService>["getLink"] {
  return async ({ tokenHash }) => {
    const [link] = await findLink(database, [readTokenHash(tokenHash), formatMicros(clock.nowMicros())]);
    if (!link) throw noSuchLink();
    const [member] = link.email === null ? [] : await findMemberByEmail(database, [link.email]);
    return create(GetLinkResponseSchema, {
      email: link.email ?? undefined,
      isKnown: member !== undefined,
      expiresAt: toTimestamp(link.expires_at),
    });
  };
}
