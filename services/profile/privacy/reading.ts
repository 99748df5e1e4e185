/** Reads new privacy requests, and finds those that are there. */
import type { CreatePrivacyRequestRequest } from "#proto/daybook/profile/v1/privacy_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import { DaybookError, type FieldError } from "#shared/values/errors.ts";
import { findShortTextFault } from "#shared/values/event.ts";
import { readIdentifiers, type NormalIdentifier } from "#shared/values/identifiers.ts";
import { decodeId, type Uuid } from "#shared/values/ids.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import { identifiersPerRequestMax, referenceLengthMax, regulationLengthMax } from "#shared/values/privacy.ts";
import { formatMicros, parseDateTime } from "#shared/values/time.ts";
import { dateTimeExpected } from "#shared/values/times.ts";
import { mismatch, missing } from "#shared/values/wording.ts";
import type { ProfileContext } from "../context.ts";
import { readRequest, type RequestRow, type RequestType } from "../sql/privacy-requests.ts";
import { nameOfType } from "./mapping.ts";

const createdByLengthMax = 255;
const dayMicros = 24 * 60 * 60 * 1_000_000;
const notBeforeAheadMaxMicros = 30 * dayMicros;
/** How long after its submission a request is due. */
const dueAfterMicros = 30 * dayMicros;
// Clocks of callers may be ahead of ours.
const clockToleranceMicros = 60 * 1_000_000;
// A request that is older than that is a mistake.
const submittedAtMin = parseDateTime("2018-05-25T00:00:00Z") as Micros;

/** A new request whose fields have been read. */
export interface NewRequest {
  property: Uuid;
  /** Of its operation, if it has one. */
  id: Uuid | undefined;
  type: RequestType;
  profile: Uuid | undefined;
  identifiers: NormalIdentifier[];
  regulation: string | null;
  reference: string | null;
  submittedAt: Micros;
  dueAt: Micros;
  notBefore: Micros | null;
  suppress: boolean;
  createdBy: string;
}

/** Reads a request. @throws DaybookError with every field at fault. */
export function readNewRequest(request: CreatePrivacyRequestRequest, now: Micros): NewRequest {
  const { profileId, identifiers: inputs, regulation, reference, operationId, suppress, createdBy } = request;
  const property = decodeId("prop", request.propertyId, "property_id");
  const id = operationId === undefined ? undefined : decodeId("op", operationId, "operation_id");
  if (inputs.length > 0) checkItemCount(inputs.length, identifiersPerRequestMax, "identifiers");
  const faults: FieldError[] = [];
  const type = nameOfType(request.type);
  if (type === undefined) faults.push(missing("type", 'send "access" or "erasure"'));
  if (profileId === undefined && inputs.length === 0) {
    faults.push(missing("profile_id", "name the person by the id of a profile, or by `identifiers`"));
  }
  if (profileId !== undefined && inputs.length > 0) {
    const message = "`identifiers` and `profile_id` are both there. Send one of them.";
    faults.push({ code: "parameter_conflict", message, param: "identifiers" });
  }
  const identifiers = readIdentifiers(inputs, faults).map(({ type: kind, value }) => ({ type: kind, value }));
  const isGood = (text: string | undefined, lengthMax: number, param: string): text is string => {
    const fault = text === undefined ? undefined : findShortTextFault(text, lengthMax, param);
    if (fault) faults.push(fault);
    return text !== undefined && !fault;
  };
  isGood(regulation, regulationLengthMax, "regulation");
  const hasReference = isGood(reference, referenceLengthMax, "reference");
  isGood(createdBy, createdByLengthMax, "created_by");
  if (hasReference && namesAny(reference, identifiers)) {
    const message = "`reference` must not hold an email or a phone of the person, because it is kept after an erasure.";
    faults.push({ code: "parameter_invalid", message, param: "reference" });
  }
  const submittedAt = readTime(request.submittedAt, "submitted_at", faults, {
    min: submittedAtMin,
    max: now + clockToleranceMicros,
    expected: "a time that is not in the future",
  });
  const notBefore = readTime(request.notBefore, "not_before", faults, {
    min: submittedAtMin,
    max: now + notBeforeAheadMaxMicros,
    expected: "a time at most 30 days ahead",
  });
  if (suppress && type === "access") {
    const message = "`suppress` is for an erasure only: a request for access keeps nothing out.";
    faults.push({ code: "parameter_conflict", message, param: "suppress" });
  }
  if (faults.length > 0 || type === undefined) throw DaybookError.ofFields(faults);
  const submitted = Math.min(submittedAt ?? now, now);
  return {
    property,
    id,
    type,
    profile: profileId === undefined ? undefined : decodeId("prof", profileId, "profile_id"),
    identifiers,
    regulation: regulation ?? null,
    reference: reference ?? null,
    submittedAt: submitted,
    dueAt: submitted + dueAfterMicros,
    notBefore: notBefore ?? null,
    suppress,
    createdBy,
  };
}

/** Whether a text has any of the emails and phones. Short values of other types are in any text. */
function namesAny(text: string, identifiers: readonly NormalIdentifier[]): boolean {
  const lower = text.toLowerCase();
  return identifiers.some(({ type, value }) => (type === "email" || type === "phone") && lower.includes(value));
}

function readTime(
  text: string | undefined,
  param: string,
  faults: FieldError[],
  { min, max, expected }: { min: Micros; max: Micros; expected: string },
): Micros | undefined {
  if (text === undefined) return undefined;
  const time = parseDateTime(text);
  if (time !== undefined && time >= min && time <= max) return time;
  const isEarly = time !== undefined && time < min;
  const wanted =
    time === undefined ? dateTimeExpected : isEarly ? `a time from ${formatMicros(min).slice(0, 10)} on` : expected;
  faults.push(mismatch(param, wanted, text, { quoted: true }));
  return undefined;
}

/** Finds a request. @throws DaybookError `resource_not_found`, `invalid_id`. */
export async function findRequest(
  { database }: ProfileContext,
  named: { propertyId: string; privacyRequestId: string },
): Promise<RequestRow> {
  const property = decodeId("prop", named.propertyId, "property_id");
  const id = decodeId("priv", named.privacyRequestId, "privacy_request_id");
  const [row] = await readRequest(database, [property, id]);
  if (row) return row;
  throw new DaybookError("resource_not_found", "There is no such privacy request.", { param: "privacy_request_id" });
}

/** The length of a reference, for filters. @throws DaybookError `parameter_invalid`. */
export function checkReference(reference: string): void {
  const fault = findShortTextFault(reference, referenceLengthMax, "reference");
  if (fault) throw DaybookError.ofFields([fault]);
}
