import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { RetryPrivacyRequestResponseSchema, type PrivacyService } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { ProfileContext } from "../context.ts";
import { toPrivacyRequest } from "../privacy/mapping.ts";
import { findRequest } from "../privacy/reading.ts";
import type { PrivacyWorker } from "../privacy/worker.ts";
import { retryRequest } from "../sql/privacy-requests.ts";

export function retryPrivacyRequest(
  context: ProfileContext,
  worker: PrivacyWorker,
): ServiceImpl<typeof PrivacyService>["retryPrivacyRequest"] {
  return async (request) => {
    const { property_id: property, id } = await findRequest(context, request);
    const [row] = await retryRequest(context.database, [property, id, formatMicros(context.clock.nowMicros())]);
    if (!row) {
      const message = "Only a privacy request that has failed can be retried.";
      throw new DaybookError("invalid_state_transition", message, { param: "privacy_request_id" });
    }
    worker.wake();
    return create(RetryPrivacyRequestResponseSchema, { request: toPrivacyRequest(row) });
  };
}
