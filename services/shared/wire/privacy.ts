/** Privacy requests and suppressions as native JSON. Neither shows a value of an identifier. */
import {
  PrivacyRequestStatus,
  PrivacyRequestType,
  type PrivacyRequest,
  type Suppression,
} from "#proto/daybook/profile/v1/privacy_pb.ts";
import { timeOrNull, timeText } from "./text.ts";

export const privacyTypeNames = {
  [PrivacyRequestType.ACCESS]: "access",
  [PrivacyRequestType.ERASURE]: "erasure",
} as const;

export const privacyStatusNames = {
  [PrivacyRequestStatus.PENDING]: "pending",
  [PrivacyRequestStatus.IN_PROGRESS]: "in_progress",
  [PrivacyRequestStatus.COMPLETED]: "completed",
  [PrivacyRequestStatus.FAILED]: "failed",
  [PrivacyRequestStatus.CANCELLED]: "cancelled",
} as const;

export function privacyRequestJson(request: PrivacyRequest): string {
  return JSON.stringify(privacyRequestObject(request));
}

export function privacyRequestObject(request: PrivacyRequest): object {
  const { counts, download, failure } = request;
  return {
    id: request.id,
    object: "privacy_request",
    type: nameOf(privacyTypeNames, request.type),
    status: nameOf(privacyStatusNames, request.status),
    subject: {
      profile_id: request.subjectProfileId ?? null,
      identifiers: request.subjectIdentifiers.map(({ type, displayValue }) => ({ type, display_value: displayValue })),
    },
    profile_ids: request.profileIds,
    regulation: request.regulation ?? null,
    reference: request.reference ?? null,
    submitted_at: timeText(request.submittedAt),
    due_at: timeText(request.dueAt),
    not_before: timeOrNull(request.notBefore),
    suppress: request.suppress,
    counts: counts
      ? {
          profiles: Number(counts.profiles),
          identifiers: Number(counts.identifiers),
          events: Number(counts.events),
          anonymous_events: Number(counts.anonymousEvents),
          webhook_messages: Number(counts.webhookMessages),
          rejected_writes: Number(counts.rejectedWrites),
          import_errors: Number(counts.importErrors),
        }
      : null,
    not_reached: request.notReached,
    download: download
      ? {
          expires_at: timeText(download.expiresAt),
          as_of: timeText(download.asOf),
          events: Number(download.events),
        }
      : null,
    failure: failure ? { code: failure.code, message: failure.message } : null,
    created_by: request.createdBy,
    created_at: timeText(request.createdAt),
    updated_at: timeText(request.updatedAt),
    completed_at: timeOrNull(request.completedAt),
  };
}

export function suppressionJson(suppression: Suppression): string {
  return JSON.stringify(suppressionObject(suppression));
}

export function suppressionObject(suppression: Suppression): object {
  return {
    id: suppression.id,
    object: "suppression",
    type: suppression.type,
    privacy_request_id: suppression.privacyRequestId,
    created_at: timeText(suppression.createdAt),
  };
}

/** @throws Error for a value that no request has */
function nameOf(names: Readonly<Record<number, string>>, value: number): string {
  const name = names[value];
  if (name === undefined) throw new Error(`a privacy request has the value ${value}, which has no name`);
  return name;
}
