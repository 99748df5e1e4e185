/** The allow-list of PrivacyService. What an access request exports is streamed by privacy-download.ts. */
import {
  PrivacyRequestType,
  PrivacyService,
  type CreatePrivacyRequestRequest,
} from "#proto/daybook/profile/v1/privacy_pb.ts";
import { methodsOf, reading, writing, type Exchange } from "./method.ts";
import { missingRight } from "./refusal.ts";

const right = "privacy:read";
const rightOf = ({ type }: CreatePrivacyRequestRequest): string =>
  type === PrivacyRequestType.ACCESS ? "privacy:export" : "privacy:delete";

/** Who may make requests of one type may cancel those that have not begun. */
function checkMayCancel(_input: unknown, { rights }: Exchange): void {
  if (!rights.has("privacy:delete") && !rights.has("privacy:export")) throw missingRight("privacy:delete");
}

export const privacyMethods = methodsOf(PrivacyService, ({ clients }) => clients.privacy, {
  listPrivacyRequests: reading(right),
  getPrivacyRequest: reading(right),
  createPrivacyRequest: {
    ...writing(right),
    fresh: true,
    audit: ({ profileId }, output) => [output?.request?.id, profileId],
    prepare(input, { viewer, rights }) {
      if (!rights.has(rightOf(input))) throw missingRight(rightOf(input));
      input.createdBy = viewer.member.id;
      delete input.operationId;
    },
  },
  cancelPrivacyRequest: {
    ...writing(right),
    audit: ({ privacyRequestId }) => [privacyRequestId],
    prepare: checkMayCancel,
  },
  retryPrivacyRequest: {
    ...writing("privacy:delete"),
    fresh: true,
    audit: ({ privacyRequestId }) => [privacyRequestId],
  },
  listSuppressions: reading(right),
  deleteSuppression: {
    ...writing("privacy:delete"),
    fresh: true,
    audit: ({ suppressionId }) => [suppressionId],
  },
});
