import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { CancelPrivacyRequestResponseSchema, type PrivacyService } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { ProfileContext } from "../context.ts";
import { toPrivacyRequest } from "../privacy/mapping.ts";
import { findRequest } from "../privacy/reading.ts";
import { cancelRequest } from "../sql/privacy-requests.ts";

export function cancelPrivacyRequest(
  context: ProfileContext,
): ServiceImpl<typeof PrivacyService>["cancelPrivacyRequest"] {
  return async (request) => {
    const { property_id: property, id } = await findRequest(context, request);
    const [row] = await cancelRequest(context.database, [property, id, formatMicros(context.clock.nowMicros())]);
    if (!row) {
      const message = "Only a privacy request that has not begun can be cancelled.";
      throw new DaybookError("invalid_state_transition", message, { param: "privacy_request_id" });
    }
    return create(CancelPrivacyRequestResponseSchema, { request: toPrivacyRequest(row) });
  };
}
