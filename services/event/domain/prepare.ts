/** Validates what a caller sent, and converts it to what is stored. */
import { createHash } from "node:crypto";
import type { EventInput } from "#proto/daybook/event/v1/event_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import { normalizeDottedName } from "#shared/values/dotted-name.ts";
import { DaybookError, type FieldError } from "#shared/values/errors.ts";
import { isJsonObject, mayHaveProblems } from "#shared/json/json.ts";
import { formatMicros, type Instant } from "#shared/values/time.ts";
import {
  dedupeIdLengthMax,
  findIdempotencyKeyFault,
  findShortTextFault,
  readOccurredAt,
} from "#shared/values/event.ts";
import { findContentFaults, findSizeFault, jsonFieldLimits } from "#shared/values/json-fields.ts";
import { digestOfKey } from "#shared/values/key-digest.ts";
import { readMoney, type Money } from "#shared/values/money.ts";
import { mismatch } from "#shared/values/wording.ts";
import type { Uuid } from "#shared/values/ids.ts";

/** A valid item whose profile is not resolved yet. */
export interface PreparedEvent {
  type: string;
  /** The text of a JSON object. */
  properties: string;
  money: Money | undefined;
  occurredAt: Micros;
  dedupe: DedupeId | undefined;
  idempotencyKey: IdempotencyKey | undefined;
  /** The operation that stores it; also the id of the event. */
  operation?: Uuid | undefined;
  /** Unique for its profile and type: the first event wins. */
  uniqueId: string | undefined;
  /** The name that the type was derived from. */
  metricName: string | undefined;
  source: string;
  backfill: boolean;
}

/** The dedupe_id of an item. */
export interface DedupeId {
  id: string;
  /** See key-digest.ts. */
  digest: string;
}

/** A caller's key for one item, with a digest of the item. */
export interface IdempotencyKey {
  /** See key-digest.ts. */
  digest: string;
  /** SHA-256 */
  fingerprint: Buffer;
}

const nameLengthMax = 255;
const sourceLengthMax = 64;

/**
 * Validates an item and brings it into normal form, without its profile reference.
 * @throws DaybookError with every field at fault.
 */
export function prepareEvent(input: EventInput, now: Micros): PreparedEvent {
  const errors: FieldError[] = [];

  const type = normalizeDottedName(input.type, "type");
  if ("error" in type) errors.push(type.error);
  const money = readMoney(input.value, input.currency);
  if ("errors" in money) errors.push(...money.errors);
  errors.push(...findPropertiesFaults(input.propertiesJson));

  const time =
    input.occurredAt === undefined ? { occurredAt: now } : readOccurredAt(input.occurredAt, now, "occurred_at");
  if ("error" in time) errors.push(time.error);
  const { dedupeId, idempotencyKey, source, uniqueId, metricName } = input;
  const checkText = (text: string | undefined, param: string, lengthMax: number): void => {
    const fault = text === undefined ? undefined : findShortTextFault(text, lengthMax, param);
    if (fault) errors.push(fault);
  };
  checkText(dedupeId, "dedupe_id", dedupeIdLengthMax);
  checkText(uniqueId, "unique_id", nameLengthMax);
  checkText(metricName, "metric_name", nameLengthMax);
  const keyFault = idempotencyKey === undefined ? undefined : findIdempotencyKeyFault(idempotencyKey);
  if (keyFault) errors.push(keyFault);
  checkText(source, "source", sourceLengthMax);
  if (errors.length > 0 || "error" in type || "errors" in money || "error" in time) {
    throw DaybookError.ofFields(errors);
  }
  return {
    type: type.name,
    properties: input.propertiesJson,
    money: money.money,
    occurredAt: time.occurredAt,
    dedupe: dedupeId === undefined ? undefined : { id: dedupeId, digest: digestOfKey(dedupeId) },
    idempotencyKey:
      idempotencyKey === undefined
        ? undefined
        : { digest: digestOfKey(idempotencyKey), fingerprint: fingerprint(input) },
    uniqueId,
    metricName,
    source,
    backfill: input.backfill,
  };
}

function findPropertiesFaults(text: string): FieldError[] {
  const tooLarge = findSizeFault(text, "properties");
  if (tooLarge) return [tooLarge];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [{ code: "parameter_invalid", message: "`properties` must be JSON.", param: "properties" }];
  }
  if (!isJsonObject(value)) return [mismatch("properties", "an object", value)];
  return mayHaveProblems(text, jsonFieldLimits.depthMax) ? findContentFaults(value, "properties") : [];
}

/** Two items are the same when the caller sent the same values in all fields. */
function fingerprint(input: EventInput): Buffer {
  const { reference } = input.profile ?? {};
  const owner = reference?.case === "identifier" ? [reference.value.type, reference.value.value] : [reference?.value];
  const { type, propertiesJson, value, currency, occurredAt, dedupeId, uniqueId, metricName, source, backfill } = input;
  const event = [type, propertiesJson, value, currency, occurredAt, dedupeId, uniqueId, metricName, source, backfill];
  return createHash("sha256")
    .update(JSON.stringify([owner, ...event]))
    .digest();
}

const keyHours = { dedupe_id: 48, idempotency_key: 24 } as const;

/** When a key that is claimed now expires. */
export function keyExpiry(kind: keyof typeof keyHours | "unique_id", now: Micros): Instant {
  return kind === "unique_id" ? "infinity" : formatMicros(now + keyHours[kind] * 60 * 60 * 1_000_000);
}
