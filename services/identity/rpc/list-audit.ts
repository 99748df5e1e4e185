import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListAuditResponseSchema, type MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { decodeId, highestUuid } from "#shared/values/ids.ts";
import { checkLimit, pageOf } from "#shared/values/page.ts";
import { checkAction, checkTargets, toEntry } from "../members/audit.ts";
import type { MemberContext } from "../members/context.ts";
import { listAudit as list } from "../sql/audit.ts";

const limitMax = 500;

export function listAudit({ database }: MemberContext): ServiceImpl<typeof MemberService>["listAudit"] {
  return async ({ propertyId, memberId, action, targetId, limit, afterEntryId }) => {
    checkLimit(limit, limitMax, "entries");
    const before = afterEntryId === undefined ? highestUuid : decodeId("aud", afterEntryId, "after_entry_id");
    const property = propertyId === undefined ? null : decodeId("prop", propertyId, "property_id");
    const member = memberId === undefined ? null : decodeId("mem", memberId, "member_id");
    if (action !== undefined) checkAction(action);
    if (targetId !== undefined) checkTargets([targetId], "target_id");
    const { rows, hasMore } = await pageOf(limit, (most) =>
      list(database, [before, property, member, action ?? null, targetId ?? null, most]),
    );
    return create(ListAuditResponseSchema, { entries: rows.map(toEntry), hasMore });
  };
}
