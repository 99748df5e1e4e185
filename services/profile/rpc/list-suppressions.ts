import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListSuppressionsResponseSchema, type PrivacyService } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { decodeId, encodeId, nilUuid } from "#shared/values/ids.ts";
import { checkLimit, pageOf } from "#shared/values/page.ts";
import { toTimestamp } from "#shared/values/time.ts";
import type { ProfileContext } from "../context.ts";
import { listSuppressions as list } from "../sql/suppressions.ts";

const limitMax = 500;

export function listSuppressions({ reads }: ProfileContext): ServiceImpl<typeof PrivacyService>["listSuppressions"] {
  return async ({ propertyId, limit, afterSuppressionId }, { signal }) => {
    checkLimit(limit, limitMax, "suppressions");
    const property = decodeId("prop", propertyId, "property_id");
    const after =
      afterSuppressionId === undefined ? nilUuid : decodeId("supp", afterSuppressionId, "after_suppression_id");
    const reader = reads.of(property, signal);
    const { rows, hasMore } = await pageOf(limit, (most) => list(reader, [property, after, most]));
    const suppressions = rows.map((row) => ({
      id: encodeId("supp", row.id),
      type: row.type,
      privacyRequestId: encodeId("priv", row.privacy_request_id),
      createdAt: toTimestamp(row.created_at),
    }));
    return create(ListSuppressionsResponseSchema, { suppressions, hasMore });
  };
}
