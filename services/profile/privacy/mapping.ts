/** Turns rows of privacy requests into messages, and enums into names. */
import { create } from "@bufbuild/protobuf";
import { ErrorSchema } from "#proto/daybook/common/v1/error_pb.ts";
import {
  PrivacyCountsSchema,
  PrivacyDownloadSchema,
  PrivacyRequestSchema,
  PrivacyRequestStatus,
  PrivacyRequestType,
  type PrivacyCounts,
  type PrivacyRequest,
} from "#proto/daybook/profile/v1/privacy_pb.ts";
import { encodeId } from "#shared/values/ids.ts";
import { toTimestamp } from "#shared/values/time.ts";
import type { Counts, RequestRow, RequestStatus, RequestType } from "../sql/privacy-requests.ts";

const typeOfName: Record<RequestType, PrivacyRequestType> = {
  access: PrivacyRequestType.ACCESS,
  erasure: PrivacyRequestType.ERASURE,
};

const statusOfName: Record<RequestStatus, PrivacyRequestStatus> = {
  pending: PrivacyRequestStatus.PENDING,
  in_progress: PrivacyRequestStatus.IN_PROGRESS,
  completed: PrivacyRequestStatus.COMPLETED,
  failed: PrivacyRequestStatus.FAILED,
  cancelled: PrivacyRequestStatus.CANCELLED,
};

/** The name of a type; undefined for none. */
export function nameOfType(type: PrivacyRequestType): RequestType | undefined {
  return nameOf(typeOfName, type);
}

/** The name of a status; undefined for none. */
export function nameOfStatus(status: PrivacyRequestStatus): RequestStatus | undefined {
  return nameOf(statusOfName, status);
}

function nameOf<Name extends string, Value>(values: Record<Name, Value>, wanted: Value): Name | undefined {
  return (Object.keys(values) as Name[]).find((name) => values[name] === wanted);
}

export function toPrivacyRequest(row: RequestRow): PrivacyRequest {
  const { counts, failure, subject_profile_id: subject } = row;
  const hasStream = row.type === "access" && row.status === "completed";
  return create(PrivacyRequestSchema, {
    id: encodeId("priv", row.id),
    propertyId: encodeId("prop", row.property_id),
    type: typeOfName[row.type],
    status: statusOfName[row.status],
    subjectProfileId: subject === null ? undefined : encodeId("prof", subject),
    subjectIdentifiers: row.subject_identifiers.map(({ type, display_value: displayValue }) => ({
      type,
      displayValue,
    })),
    // Until the work begins, there is only the one that was named.
    profileIds: row.as_of === null ? [] : row.profile_ids.map((id) => encodeId("prof", id)),
    regulation: row.regulation ?? undefined,
    reference: row.reference ?? undefined,
    submittedAt: toTimestamp(row.submitted_at),
    dueAt: toTimestamp(row.due_at),
    notBefore: toTimestamp(row.not_before),
    suppress: row.suppress,
    ...(counts ? { counts: toCounts(counts) } : {}),
    notReached: row.not_reached,
    ...(hasStream && row.as_of !== null
      ? {
          download: create(PrivacyDownloadSchema, {
            expiresAt: toTimestamp(row.download_until),
            asOf: toTimestamp(row.as_of),
            events: BigInt((counts?.events ?? 0) + (counts?.anonymous_events ?? 0)),
          }),
        }
      : {}),
    ...(failure ? { failure: create(ErrorSchema, failure) } : {}),
    createdBy: row.created_by,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
    completedAt: toTimestamp(row.completed_at),
  });
}

function toCounts(counts: Counts): PrivacyCounts {
  return create(PrivacyCountsSchema, {
    profiles: BigInt(counts.profiles ?? 0),
    identifiers: BigInt(counts.identifiers ?? 0),
    events: BigInt(counts.events ?? 0),
    anonymousEvents: BigInt(counts.anonymous_events ?? 0),
    webhookMessages: BigInt(counts.webhook_messages ?? 0),
    rejectedWrites: BigInt(counts.rejected_writes ?? 0),
    importErrors: BigInt(counts.import_errors ?? 0),
  });
}

/** The counts of a report. */
export function fromCounts(counts: PrivacyCounts): Counts {
  return {
    events: Number(counts.events),
    anonymous_events: Number(counts.anonymousEvents),
    webhook_messages: Number(counts.webhookMessages),
    rejected_writes: Number(counts.rejectedWrites),
    import_errors: Number(counts.importErrors),
  };
}
