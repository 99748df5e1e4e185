import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { RecordAuditResponseSchema, type MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { newUuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import { readEntry, toEntry } from "../members/audit.ts";
import type { MemberContext } from "../members/context.ts";
import { mustHave } from "../members/members.ts";
import { insertAudit } from "../sql/audit.ts";

export function recordAudit({ database, clock }: MemberContext): ServiceImpl<typeof MemberService>["recordAudit"] {
  return async ({ entry }) => {
    if (!entry) throw new DaybookError("parameter_missing", "`entry` is required.", { param: "entry" });
    const read = readEntry(entry);
    const rows = await insertAudit(database, [
      newUuid(),
      formatMicros(clock.nowMicros()),
      read.memberId,
      read.memberEmail,
      read.actorId,
      read.propertyId,
      read.action,
      read.targetIds,
      read.address,
      read.requestId,
      read.succeeded,
    ]);
    return create(RecordAuditResponseSchema, { entry: toEntry(mustHave(rows)) });
  };
}
