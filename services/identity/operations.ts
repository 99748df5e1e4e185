/** Operations: an Idempotency-Key's claim and its answer. */
import { create } from "@bufbuild/protobuf";
import {
  ClaimOutcomeSchema,
  type ClaimOutcome,
  type FinishedOperation,
  type HeldOperation,
  type OperationAnswer,
  type OperationClaim,
} from "#proto/daybook/identity/v1/identity_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, encodeId, newUuid, tryDecodeId, type Uuid } from "#shared/values/ids.ts";
import { digestOfKey } from "#shared/values/key-digest.ts";
import { forLargeTexts } from "#shared/database/large-texts.ts";
import type { Database } from "#shared/database/postgres.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { Steps } from "#shared/scheduling/steps.ts";
import { textFinder } from "#shared/values/names.ts";
import { formatMicros, type Instant } from "#shared/values/time.ts";
import { ageMaxMicros, checkClaim } from "./request-claims.ts";
import {
  claimOperations,
  findOperations,
  forgetAnswers,
  forgetAnswersByKey,
  forgetRecorded,
  pageRefusals,
  readRefusals,
  settleOperations,
  type ClaimedRow,
  type OperationRow,
} from "./sql/operations.ts";

/** Per call. */
export const operationsMax = 500;
/** Ids per call to forgetAnswers. */
export const forgottenIdsMax = 1000;

// A key that is released between claim and look-up is claimed in the next round.
const claimRoundsMax = 3;
// Few pages, because each may look through all answers of the property.
const refusalRowsMax = 10_000;
const leaseMicros = 3 * 1_000_000;

/** A claim, with the property as a UUID. */
interface Claim {
  property: Uuid;
  /** Digest of the Idempotency-Key. */
  key: string;
  fingerprint: Uint8Array;
}

/** Claims keys. @returns an outcome for each claim, in order. */
export async function claim(context: ServiceContext, wanted: readonly OperationClaim[]): Promise<ClaimOutcome[]> {
  const outcomes = new Map<Claim, ClaimOutcome>();
  const claims = wanted.map(readClaim);
  let open = claims;
  for (let round = 0; open.length > 0 && round < claimRoundsMax; round++) {
    for (const [one, outcome] of await claimOnce(context, open)) outcomes.set(one, outcome);
    open = open.filter((one) => !outcomes.has(one));
  }
  return claims.map((one) => outcomes.get(one) ?? underWay());
}

/** One round of claims. Keys that were released meanwhile have no outcome. */
async function claimOnce(
  { database, clock }: ServiceContext,
  claims: readonly Claim[],
): Promise<Map<Claim, ClaimOutcome>> {
  // Of several claims of a key, the first one wins.
  const firsts = new Map(claims.toReversed().map((one) => [nameOf(one.property, one.key), one]));
  const first = [...firsts.values()];
  const now = clock.nowMicros();
  const granted = await claimOperations(database, [
    formatMicros(now),
    formatMicros(now + leaseMicros),
    formatMicros(now + ageMaxMicros),
    first.map(({ property, key, fingerprint }) => ({
      property_id: property,
      key,
      fingerprint,
      operation_id: newUuid(),
    })),
  ]);
  const claimed = new Map(granted.map((row) => [nameOf(row.property_id, row.key), row]));
  const others = new Map(
    claims.flatMap((one) => (isGranted(one) === undefined ? [[nameOf(one.property, one.key), one] as const] : [])),
  );
  const rows =
    others.size === 0
      ? []
      : await findOperations(database, [
          formatMicros(now),
          [...others.values()].map(({ property, key }) => ({ property_id: property, key })),
        ]);
  const found = new Map(rows.map((row) => [nameOf(row.property_id, row.key), row]));
  return new Map(
    claims.flatMap((one) => {
      const row = isGranted(one);
      const outcome = row ? toClaimed(row) : toOther(one, found.get(nameOf(one.property, one.key)));
      return outcome ? [[one, outcome]] : [];
    }),
  );

  function isGranted(one: Claim): ClaimedRow | undefined {
    const name = nameOf(one.property, one.key);
    return firsts.get(name) === one ? claimed.get(name) : undefined;
  }
}

/** Extends the leases of attempts. */
export async function renew({ database, clock }: ServiceContext, operations: readonly HeldOperation[]): Promise<void> {
  const leasedUntil = formatMicros(clock.nowMicros() + leaseMicros);
  await settle(
    database,
    operations.map((operation) => ({ operation, leasedUntil })),
  );
}

/**
 * Stores answers of operations, or releases their claims. @returns for each, in order, whether the attempt still held
 * the operation.
 */
export async function finish(
  { database, clock }: ServiceContext,
  operations: readonly FinishedOperation[],
): Promise<boolean[]> {
  const now = formatMicros(clock.nowMicros());
  return settle(
    database,
    operations.map(({ operation, outcome }): Settlement => {
      if (!operation) throw missing("operation");
      if (outcome.case === undefined) throw missing("outcome");
      if (outcome.case === "answer") return { operation, leasedUntil: now, answer: outcome.value };
      // An earlier attempt may have done it, or may still do it.
      const isFree = outcome.case === "refused" && operation.attempt === 1;
      return { operation, leasedUntil: isFree ? "-infinity" : now };
    }),
  );
}

/** Whose answers are deleted. */
export interface Forgotten {
  propertyId: string;
  ids: readonly string[];
  texts: readonly string[];
  phones: readonly string[];
}

/**
 * Deletes stored answers that contain any of these ids, what was recorded under them, and refusals that contain any of
 * the texts.
 * @returns how many.
 */
export async function forget(
  { database }: ServiceContext,
  { propertyId, ids, texts, phones }: Forgotten,
): Promise<number> {
  const property = decodeId("prop", propertyId, "property_id");
  const subjects = ids.map((id) => tryDecodeId("evt", id) ?? decodeId("prof", id, "ids"));
  let forgotten = 0;
  if (subjects.length > 0) {
    forgotten += (await forgetAnswers(database, [property, subjects])).length;
    forgotten += (await forgetRecorded(database, [property, subjects])).length;
  }
  if (texts.length + phones.length === 0) return forgotten;
  return forgotten + (await forgetRefusals(database, property, textFinder({ texts, phones })));
}

/** @returns how many answers with refusals were deleted, because their bodies name a person. */
async function forgetRefusals(database: Database, property: Uuid, isNamed: (body: string) => boolean): Promise<number> {
  let forgotten = 0;
  const steps = new Steps();
  await forLargeTexts<{ key: string; bytes: number }>(
    refusalRowsMax,
    (after, rowsMax) => pageRefusals(database, [property, after?.key ?? "", rowsMax]),
    async (places) => {
      const named: string[] = [];
      const keys = places.map(({ key }) => key);
      for (const { key, body } of await readRefusals(database, [property, keys])) {
        await steps.next();
        if (isNamed(body)) named.push(key);
      }
      if (named.length > 0) forgotten += (await forgetAnswersByKey(database, [property, named])).length;
    },
  );
  return forgotten;
}

/** A new state of an operation. */
interface Settlement {
  operation: HeldOperation;
  leasedUntil: Instant;
  answer?: OperationAnswer;
}

async function settle(database: Database, settlements: readonly Settlement[]): Promise<boolean[]> {
  const settled = new Set<Settlement>();
  // Several attempts of a key may be in one call; each is tried separately, and one matches.
  for (let open = settlements; open.length > 0;) {
    const byName = new Map(open.map((one) => [nameOf(propertyOf(one), digestOfKey(one.operation.key)), one]));
    for (const { property_id: property, key } of await settleOnce(database, [...byName.values()])) {
      const one = byName.get(nameOf(property, key));
      if (one) settled.add(one);
    }
    const tried = new Set(byName.values());
    open = open.filter((one) => !tried.has(one));
  }
  return settlements.map((one) => settled.has(one));
}

function propertyOf({ operation }: Pick<Settlement, "operation">): Uuid {
  return decodeId("prop", operation.propertyId, "property_id");
}

/** The keys must be distinct. */
function settleOnce(database: Database, wanted: readonly Settlement[]): ReturnType<typeof settleOperations> {
  const settlements = wanted.map(({ operation, leasedUntil, answer }) => ({
    property_id: decodeId("prop", operation.propertyId, "property_id"),
    key: digestOfKey(operation.key),
    operation_id: decodeId("op", operation.operationId, "operation_id"),
    attempt: operation.attempt,
    leased_until: leasedUntil,
    status: answer?.status ?? null,
    headers: answer ? JSON.stringify(answer.headers) : null,
    body: answer?.body ?? null,
    request_id: answer?.requestId ?? null,
    masked_body: answer?.maskedBody ?? null,
    subjects: answer ? JSON.stringify(subjectsOf(propertyOf({ operation }), answer)) : null,
  }));
  return settleOperations(database, [settlements]);
}

const subjectPattern = /\b(?:prof|evt)_[0-7][0-9a-hjkmnp-tv-z]{25}\b/g;

/**
 * UUIDs of all profiles and events whose ids are in an answer. Ids that callers stored are harmless extras, because a
 * forgotten answer is made again. An answer may speak of a person without an id: refused items of a batch do. It has
 * the property as a subject, so that such answers are found.
 */
function subjectsOf(property: Uuid, { body }: OperationAnswer): Uuid[] {
  const ids = new Set(body.match(subjectPattern));
  const subjects = [...ids].flatMap((id) => tryDecodeId("prof", id) ?? tryDecodeId("evt", id) ?? []);
  const isNameless = body !== "" && (subjects.length === 0 || body.includes(refusalPart));
  return isNameless ? [...subjects, property] : subjects;
}

/** In the body of a batch in which an item was refused. */
const refusalPart = '"error":{';

function readClaim({ propertyId, key, fingerprint }: OperationClaim): Claim {
  checkClaim(key, fingerprint);
  return { property: decodeId("prop", propertyId, "property_id"), key: digestOfKey(key), fingerprint };
}

function toClaimed({ operation_id: id, attempt }: ClaimedRow): ClaimOutcome {
  return create(ClaimOutcomeSchema, {
    outcome: { case: "claimed", value: { operationId: encodeId("op", id), attempt } },
  });
}

/** @returns undefined if the key was released after the claim failed. */
function toOther({ fingerprint }: Claim, row: OperationRow | undefined): ClaimOutcome | undefined {
  if (!row) return undefined;
  if (row.fingerprint.compare(fingerprint) !== 0) {
    return create(ClaimOutcomeSchema, { outcome: { case: "reused", value: {} } });
  }
  const { status, headers, body, request_id: requestId, masked_body: maskedBody, recorded: result, revision } = row;
  if (result !== null && revision !== null) {
    return create(ClaimOutcomeSchema, { outcome: { case: "recorded", value: { result, revision } } });
  }
  if (status === null || headers === null || body === null || requestId === null) {
    return row.is_free ? undefined : underWay();
  }
  const answer = {
    status,
    headers: JSON.parse(headers) as Record<string, string>,
    body,
    requestId,
    maskedBody: maskedBody ?? undefined,
  };
  return create(ClaimOutcomeSchema, { outcome: { case: "answer", value: answer } });
}

function underWay(): ClaimOutcome {
  return create(ClaimOutcomeSchema, { outcome: { case: "underWay", value: {} } });
}

function nameOf(property: Uuid, key: string): string {
  return `${property} ${key}`;
}

function missing(param: string): DaybookError {
  return new DaybookError("parameter_missing", `There is no ${param}.`, { param });
}
