/** Rejected writes as native JSON. */
import {
  PayloadState,
  RejectionSeverity,
  RejectionSurface,
  type RejectedWrite,
  type RejectedWriteGroup,
} from "#proto/daybook/event/v1/rejected_pb.ts";
import { errorCatalogue, isErrorCode } from "#shared/values/errors.ts";
import { timeText } from "#shared/wire/text.ts";

/** The states of what was sent. */
const payloadStates: Record<PayloadState, string> = {
  [PayloadState.UNSPECIFIED]: "not_kept",
  [PayloadState.KEPT]: "kept",
  [PayloadState.TRUNCATED]: "truncated",
  [PayloadState.REDACTED]: "redacted",
  [PayloadState.NOT_KEPT]: "not_kept",
};

/** @param origin of a gateway, such as `https://daybook.example.com`, whose page of errors is linked to. */
export function rejectedWriteFields(write: RejectedWrite, origin: string): Record<string, unknown> {
  const { code = "internal_error", message = "", param, errors = [] } = write.error ?? {};
  return {
    id: write.id,
    object: "rejected_write",
    rejected_at: timeText(write.rejectedAt),
    operation: write.operation,
    surface: write.surface === RejectionSurface.COMPAT ? "compat" : "native",
    severity: severityName(write.severity),
    status: write.status,
    error: { type: typeOf(code), code, message, param: param ?? null },
    errors: errors.map((field) => ({ code: field.code, message: field.message, param: field.param ?? null })),
    request_id: write.requestId || null,
    job_id: write.jobId ?? null,
    item_index: write.itemIndex ?? null,
    client_reference: write.clientReference ?? null,
    event_type: write.eventType ?? null,
    key_id: write.keyId || null,
    key_name: write.keyName,
    installation_id: write.installationId ?? null,
    docs_url: docsUrl(origin, code),
    payload_state: payloadStates[write.payloadState],
  };
}

/** A group of a summary. @param origin as of rejectedWriteFields. */
export function rejectedGroupFields(group: RejectedWriteGroup, origin: string): Record<string, unknown> {
  const { code } = group;
  return {
    operation: group.operation,
    code,
    param: group.param ?? null,
    event_type: group.eventType ?? null,
    key_id: group.keyId,
    key_name: group.keyName,
    severity: severityName(group.severity),
    count: Number(group.count),
    first_seen_at: timeText(group.firstAt),
    last_seen_at: timeText(group.lastAt),
    sample_ids: group.sampleIds,
    docs_url: docsUrl(origin, code),
  };
}

/** Where the code is explained. */
function docsUrl(origin: string, code: string): string {
  return `${origin}/docs/errors#${code}`;
}

function severityName(severity: RejectionSeverity): "error" | "warning" {
  return severity === RejectionSeverity.WARNING ? "warning" : "error";
}

function typeOf(code: string): string {
  return isErrorCode(code) ? errorCatalogue[code].type : "internal_error";
}
