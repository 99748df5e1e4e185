import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { OpenExportResponseSchema, type PrivacyService } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { encodeId } from "#shared/values/ids.ts";
import type { ProfileContext } from "../context.ts";
import { toPrivacyRequest } from "../privacy/mapping.ts";
import { findRequest } from "../privacy/reading.ts";
import { readHeld } from "../sql/privacy-requests.ts";

// The counts of a person take moments, unless a service is away.
const notReadyRetryMs = 5_000;
const param = "privacy_request_id";

export function openExport(context: ProfileContext): ServiceImpl<typeof PrivacyService>["openExport"] {
  return async (request) => {
    const row = await findRequest(context, request);
    if (row.type !== "access" || row.status === "failed" || row.status === "cancelled") {
      const what = row.type === "access" ? `It is ${row.status}.` : "This is an erasure.";
      const message = `Only a completed request for access has a download. ${what}`;
      throw new DaybookError("invalid_state_transition", message, { param });
    }
    if (row.status !== "completed") {
      const message = "The request is not completed yet. Try again later.";
      throw new DaybookError("not_ready", message, { param, retryAfterMs: notReadyRetryMs });
    }
    const [{ held } = { held: null }] = await readHeld(context.database, [row.property_id, row.id]);
    if (!held || row.download_until === null || row.download_until <= context.clock.nowMicros()) {
      const message = "The download has ended: 7 days after the request was completed, or when the person was erased.";
      throw new DaybookError("download_expired", message, { param });
    }
    return create(OpenExportResponseSchema, {
      request: toPrivacyRequest(row),
      profileIds: row.profile_ids.map((id) => encodeId("prof", id)),
      identifiers: held.named,
    });
  };
}
