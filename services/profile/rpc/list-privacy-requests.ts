import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  ListPrivacyRequestsResponseSchema,
  PrivacyRequestType,
  type PrivacyService,
} from "#proto/daybook/profile/v1/privacy_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { checkLimit, pageOf } from "#shared/values/page.ts";
import { toRange } from "#shared/values/time.ts";
import type { ProfileContext } from "../context.ts";
import { nameOfStatus, nameOfType, toPrivacyRequest } from "../privacy/mapping.ts";
import { checkReference } from "../privacy/reading.ts";
import { listRequests } from "../sql/privacy-requests.ts";

const limitMax = 500;

export function listPrivacyRequests({
  reads,
}: ProfileContext): ServiceImpl<typeof PrivacyService>["listPrivacyRequests"] {
  return async (request, { signal }) => {
    const { limit, reference, profileId, afterPrivacyRequestId: after } = request;
    checkLimit(limit, limitMax, "privacy requests");
    const property = decodeId("prop", request.propertyId, "property_id");
    if (reference !== undefined) checkReference(reference);
    const wanted = request.type === PrivacyRequestType.UNSPECIFIED ? undefined : request.type;
    const values = {
      property,
      type: wanted === undefined ? undefined : known(nameOfType(wanted), "type"),
      statuses:
        request.statuses.length === 0
          ? undefined
          : [...new Set(request.statuses.map((status) => known(nameOfStatus(status), "statuses")))],
      profile: profileId === undefined ? undefined : decodeId("prof", profileId, "profile_id"),
      reference,
      dueAt: toRange(request.dueAt),
      createdAt: toRange(request.createdAt),
      after: after === undefined ? undefined : decodeId("priv", after, "after_privacy_request_id"),
    };
    const reader = reads.of(property, signal);
    const { rows, hasMore } = await pageOf(limit, (most) => listRequests(reader, { ...values, limit: most }));
    return create(ListPrivacyRequestsResponseSchema, { requests: rows.map(toPrivacyRequest), hasMore });
  };
}

function known<Name>(name: Name | undefined, param: string): Name {
  if (name !== undefined) return name;
  throw new DaybookError("parameter_invalid", `\`${param}\` has a value that nobody knows.`, { param });
}
