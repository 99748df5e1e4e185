/** Privacy requests: bodies to messages. */
import { create } from "@bufbuild/protobuf";
import type { Static } from "typebox";
import {
  CreatePrivacyRequestRequestSchema,
  PrivacyRequestStatus,
  PrivacyRequestType,
  type CreatePrivacyRequestRequest,
} from "#proto/daybook/profile/v1/privacy_pb.ts";
import { privacyStatusNames, privacyTypeNames } from "#shared/wire/privacy.ts";
import type { PrivacyRequestCreate } from "../privacy-schemas.ts";

/** @param createdBy the id of the key or installation. */
export function toPrivacyRequest(
  propertyId: string,
  createdBy: string,
  body: Static<typeof PrivacyRequestCreate>,
): CreatePrivacyRequestRequest {
  // Null means absent.
  const [profileId, regulation, reference, submittedAt, notBefore] = [
    body.profile_id,
    body.regulation,
    body.reference,
    body.submitted_at,
    body.not_before,
  ].map((field) => field ?? undefined);
  return create(CreatePrivacyRequestRequestSchema, {
    propertyId,
    type: toPrivacyType(body.type),
    profileId,
    identifiers: body.identifiers ?? [],
    regulation,
    reference,
    submittedAt,
    notBefore,
    suppress: body.suppress ?? false,
    createdBy,
  });
}

/** The scope that a request of this type needs. */
export function scopeOfType(type: string): "privacy:delete" | "privacy:export" {
  return type === "erasure" ? "privacy:delete" : "privacy:export";
}

/** The type of a name; UNSPECIFIED for an unknown one. */
export function toPrivacyType(name: string | undefined): PrivacyRequestType {
  const types = [PrivacyRequestType.ACCESS, PrivacyRequestType.ERASURE] as const;
  return types.find((type) => privacyTypeNames[type] === name) ?? PrivacyRequestType.UNSPECIFIED;
}

/** The status of a name; none for an unknown one. */
export function toPrivacyStatuses(name: string | undefined): PrivacyRequestStatus[] {
  const statuses = [
    PrivacyRequestStatus.PENDING,
    PrivacyRequestStatus.IN_PROGRESS,
    PrivacyRequestStatus.COMPLETED,
    PrivacyRequestStatus.FAILED,
    PrivacyRequestStatus.CANCELLED,
  ] as const;
  return statuses.filter((status) => privacyStatusNames[status] === name);
}
