import { fromBinary } from "@bufbuild/protobuf";
import {
  PrivacyPart,
  PrivacyPhase,
  PrivacyRequestStatus,
  PrivacyRequestType,
  PrivacyWorkDueSchema,
  type PrivacyRequest,
  type PrivacyWorkDue,
} from "#proto/daybook/profile/v1/privacy_pb.ts";
import type { BusHandler } from "#shared/bus/bus.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { formatMicros, fromTimestamp } from "#shared/values/time.ts";
import type { EventContext } from "../context.ts";
import { countPerson, emptyNobodys, findNotReached, sweepPerson } from "../privacy.ts";

const ownCall = systemCall("event", 30_000);

/** Does this service's part of privacy requests, and reports it. Done again, it changes nothing and counts nothing. */
export function privacyWorkDue(context: EventContext): BusHandler {
  return async (payloads) => {
    for (const { payload } of payloads) await work(context, fromBinary(PrivacyWorkDueSchema, payload));
  };
}

async function work(context: EventContext, due: PrivacyWorkDue): Promise<void> {
  const { propertyId, privacyRequestId, phase } = due;
  // Emptying cannot be undone, so a message alone is not enough.
  const { request } = await context.privacy.getPrivacyRequest({ propertyId, privacyRequestId }, ownCall);
  if (!request) throw new Error("the profile service shows no privacy request");
  // A message that comes late: the work was done, or will be asked for again.
  if (request.status !== PrivacyRequestStatus.IN_PROGRESS) return;
  const person = {
    property: decodeId("prop", propertyId, "property_id"),
    profileIds: request.profileIds,
    identifiers: due.identifiers,
  };
  const report = { propertyId, privacyRequestId, part: PrivacyPart.EVENT, phase };
  if (phase === PrivacyPhase.COUNT) {
    const upTo = due.asOf ? formatMicros(fromTimestamp(due.asOf)) : "infinity";
    const counts = await countPerson(context, person, upTo);
    await context.privacy.reportPrivacyWork({ ...report, counts }, ownCall);
    // After the report, because what is empty cannot be counted.
    if (isErasure(request)) await emptyNobodys(context, person);
  } else if (phase === PrivacyPhase.SWEEP && isErasure(request)) {
    await sweepPerson(context, person);
    await context.privacy.reportPrivacyWork({ ...report, notReached: await findNotReached(context) }, ownCall);
  }
}

function isErasure({ type }: PrivacyRequest): boolean {
  return type === PrivacyRequestType.ERASURE;
}
