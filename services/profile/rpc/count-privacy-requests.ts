import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { CountPrivacyRequestsResponseSchema, type PrivacyService } from "#proto/daybook/profile/v1/privacy_pb.ts";
import type { ProfileContext } from "../context.ts";
import { countOpen } from "../privacy/metrics.ts";

export function countPrivacyRequests(
  context: ProfileContext,
): ServiceImpl<typeof PrivacyService>["countPrivacyRequests"] {
  return async () => {
    const { open, overdue, due_soon: dueSoon, failed } = await countOpen(context);
    return create(CountPrivacyRequestsResponseSchema, {
      open: BigInt(open),
      overdue: BigInt(overdue),
      dueSoon: BigInt(dueSoon),
      failed: BigInt(failed),
    });
  };
}
