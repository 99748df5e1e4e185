import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  PrivacyPart,
  PrivacyPhase,
  ReportPrivacyWorkResponseSchema,
  type PrivacyService,
} from "#proto/daybook/profile/v1/privacy_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import { isLongerThan } from "#shared/values/text.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { ProfileContext } from "../context.ts";
import { fromCounts } from "../privacy/mapping.ts";
import { reportingParts } from "../privacy/steps.ts";
import type { PrivacyWorker } from "../privacy/worker.ts";
import type { RequestStep } from "../sql/privacy-requests.ts";
import { noteReport } from "../sql/privacy-work.ts";

const sentencesMax = 20;
const sentenceLengthMax = 500;

const partNames = new Map<PrivacyPart, (typeof reportingParts)[number]>([
  [PrivacyPart.EVENT, "event"],
  [PrivacyPart.WEBHOOK, "webhook"],
]);

const stepOfPhase = new Map<PrivacyPhase, RequestStep>([
  [PrivacyPhase.COUNT, "count"],
  [PrivacyPhase.SWEEP, "sweep"],
]);

export function reportPrivacyWork(
  { database, clock }: ProfileContext,
  worker: PrivacyWorker,
): ServiceImpl<typeof PrivacyService>["reportPrivacyWork"] {
  return async (request) => {
    const property = decodeId("prop", request.propertyId, "property_id");
    const id = decodeId("priv", request.privacyRequestId, "privacy_request_id");
    const part = partNames.get(request.part);
    const step = stepOfPhase.get(request.phase);
    if (part === undefined) throw unknown("part");
    if (step === undefined) throw unknown("phase");
    if (request.notReached.length > 0) checkItemCount(request.notReached.length, sentencesMax, "not_reached");
    if (request.notReached.some((sentence) => isLongerThan(sentence, sentenceLengthMax))) {
      const message = `A sentence of \`not_reached\` has at most ${sentenceLengthMax} characters.`;
      throw new DaybookError("parameter_invalid", message, { param: "not_reached" });
    }
    const counts = request.phase === PrivacyPhase.COUNT && request.counts ? fromCounts(request.counts) : undefined;
    const report = { not_reached: request.notReached, ...(counts ? { counts } : {}) };
    const now = formatMicros(clock.nowMicros());
    // A report that comes late, or again, finds no row.
    const [noted] = await noteReport(database, [
      property,
      id,
      step,
      part,
      JSON.stringify({ [part]: report }),
      reportingParts,
      now,
    ]);
    if (noted?.is_complete) worker.wake();
    return create(ReportPrivacyWorkResponseSchema, {});
  };
}

function unknown(param: string): DaybookError {
  return new DaybookError("parameter_invalid", `\`${param}\` has a value that nobody knows.`, { param });
}
