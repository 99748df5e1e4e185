import { create, fromBinary } from "@bufbuild/protobuf";
import {
  PrivacyCountsSchema,
  PrivacyPart,
  PrivacyPhase,
  PrivacyRequestStatus,
  PrivacyRequestType,
  PrivacyWorkDueSchema,
  type PrivacyWorkDue,
} from "#proto/daybook/profile/v1/privacy_pb.ts";
import type { BusHandler } from "#shared/bus/bus.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { WebhookContext } from "../context.ts";
import { knownProperties } from "../properties.ts";
import { redact, redactAnonymous, redactReports } from "../redaction.ts";
import { countBodies } from "../sql/persons.ts";

const ownCall = systemCall("webhook", 30_000);

/** Does this service's part of privacy requests, and reports it. Done again, it changes nothing. */
export function privacyWorkDue(context: WebhookContext): BusHandler {
  return async (payloads) => {
    for (const { payload } of payloads) await work(context, fromBinary(PrivacyWorkDueSchema, payload));
  };
}

async function work(context: WebhookContext, due: PrivacyWorkDue): Promise<void> {
  const { propertyId, privacyRequestId, phase } = due;
  const { database, privacy } = context;
  // Emptying cannot be undone, so a message alone is not enough.
  const { request } = await privacy.getPrivacyRequest({ propertyId, privacyRequestId }, ownCall);
  if (!request) throw new Error("the profile service shows no privacy request");
  // A message that comes late: the work was done, or will be asked for again.
  if (request.status !== PrivacyRequestStatus.IN_PROGRESS) return;
  const property = decodeId("prop", propertyId, "property_id");
  const profiles = request.profileIds.map((id) => decodeId("prof", id, "profile_ids"));
  const isKnown = (await knownProperties(database, [property])).has(property);
  const report = { propertyId, privacyRequestId, part: PrivacyPart.WEBHOOK, phase };
  if (phase === PrivacyPhase.COUNT) {
    const [found] = isKnown ? await countBodies(database, [property, profiles]) : [];
    const counts = create(PrivacyCountsSchema, { webhookMessages: BigInt(found?.count ?? 0) });
    await privacy.reportPrivacyWork({ ...report, counts }, ownCall);
  } else if (phase === PrivacyPhase.SWEEP && request.type === PrivacyRequestType.ERASURE) {
    if (isKnown) {
      await redact(context, property, profiles);
      await redactAnonymous(context, property);
      await redactReports(context, property, { profileIds: request.profileIds, identifiers: due.identifiers });
    }
    await privacy.reportPrivacyWork(report, ownCall);
  }
}
