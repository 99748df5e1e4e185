/** From what a caller sent to what is stored, or every reason why not. */
import { createHash } from "node:crypto";
import type { EventInput } from "#proto/daybook/event/v1/event_pb.ts";
import type { Micros } from "#shared/clock.ts";
import { normalizeDottedName } from "#shared/dotted-name.ts";
import { DaybookError, type FieldError } from "#shared/errors.ts";
import { findJsonProblem, isJsonObject, parseJson, textProblem } from "#shared/json.ts";
import { formatMicros, parseDateTime } from "#shared/time.ts";
import { readMoney, type Money } from "./money.ts";

/** An item that may be recorded, once its profile is known. */
export interface PreparedEvent {
  type: string;
  /** The text of a JSON object. */
  properties: string;
  money: Money | undefined;
  occurredAt: Micros;
  dedupeId: string | undefined;
  idempotencyKey: IdempotencyKey | undefined;
  /** UUID of the operation that records it, if one does: the event has the same. */
  operation?: string | undefined;
  /** The first with it wins, among those of its profile and type. */
  uniqueId: string | undefined;
  /** The name that the type was derived from. */
  metricName: string | undefined;
  source: string;
  backfill: boolean;
}

/** A caller's key for one item, and what the item was. */
export interface IdempotencyKey {
  key: string;
  /** SHA-256 */
  fingerprint: Buffer;
}

const propertiesBytesMax = 256 * 1024;
const propertiesDepthMax = 32;
const dedupeIdLengthMax = 255;
const nameLengthMax = 255;
const sourceLengthMax = 64;
const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/;

/**
 * Checks an item and brings it into normal form. Whose it is is not looked at.
 * @throws DaybookError with every field at fault.
 */
export function prepareEvent(input: EventInput, now: Micros): PreparedEvent {
  const errors: FieldError[] = [];
  const note = (code: FieldError["code"], param: string, message: string): void => {
    errors.push({ code, message, param });
  };

  const type = normalizeDottedName(input.type, "type");
  if ("error" in type) errors.push(type.error);
  const money = readMoney(input.value, input.currency);
  if ("errors" in money) errors.push(...money.errors);
  const problem = propertiesProblem(input.propertiesJson);
  if (problem) errors.push(problem);

  const occurredAt = input.occurredAt === undefined ? now : parseDateTime(input.occurredAt);
  if (occurredAt === undefined) {
    note("parameter_invalid", "occurred_at", "This is not an ISO 8601 date-time with an offset or Z.");
  } else if (occurredAt < 0 || occurredAt > yearAfter(now)) {
    note("parameter_invalid", "occurred_at", "The time lies before 1970 or more than a year ahead.");
  }
  const { dedupeId, idempotencyKey, source, uniqueId, metricName } = input;
  const checkText = (text: string | undefined, param: string, lengthMax: number): void => {
    const reason = text === undefined ? undefined : textProblem(text);
    if (reason !== undefined) note("parameter_invalid", param, `The ${param} ${reason}.`);
    else if (text === "" || Array.from(text ?? "").length > lengthMax) {
      note("parameter_invalid", param, `A ${param} has 1 to ${lengthMax} characters.`);
    }
  };
  checkText(dedupeId, "dedupe_id", dedupeIdLengthMax);
  checkText(uniqueId, "unique_id", nameLengthMax);
  checkText(metricName, "metric_name", nameLengthMax);
  if (idempotencyKey !== undefined && !idempotencyKeyPattern.test(idempotencyKey)) {
    const message = "An idempotency_key is 1 to 255 printable ASCII characters without space.";
    note("parameter_invalid", "idempotency_key", message);
  }
  if (source === "" || source.length > sourceLengthMax || textProblem(source) !== undefined) {
    note("parameter_invalid", "source", `A source has 1 to ${sourceLengthMax} characters.`);
  }
  if (errors.length > 0 || "error" in type || "errors" in money || occurredAt === undefined) {
    throw DaybookError.ofFields(errors);
  }
  return {
    type: type.name,
    properties: input.propertiesJson,
    money: money.money,
    occurredAt,
    dedupeId,
    idempotencyKey: idempotencyKey === undefined ? undefined : { key: idempotencyKey, fingerprint: fingerprint(input) },
    uniqueId,
    metricName,
    source,
    backfill: input.backfill,
  };
}

function yearAfter(now: Micros): Micros {
  const date = new Date(now / 1000);
  return now + (date.setUTCFullYear(date.getUTCFullYear() + 1) - Math.floor(now / 1000)) * 1000;
}

function propertiesProblem(text: string): FieldError | undefined {
  const invalid = (message: string, path: readonly string[] = []): FieldError => ({
    code: "parameter_invalid",
    message,
    param: ["properties", ...path].join("."),
  });
  if (Buffer.byteLength(text) > propertiesBytesMax) {
    return invalid(`The properties of an event take at most ${propertiesBytesMax / 1024} KiB.`);
  }
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return invalid("The properties are not JSON.");
  }
  if (!isJsonObject(value)) return invalid("The properties are not a JSON object.");
  const problem = findJsonProblem(value, propertiesDepthMax);
  return problem && invalid(`This property ${problem.reason}.`, problem.path);
}

/** Two items are the same when the caller sent the same in every field. */
function fingerprint(input: EventInput): Buffer {
  const { reference } = input.profile ?? {};
  const whose = reference?.case === "identifier" ? [reference.value.type, reference.value.value] : [reference?.value];
  const { type, propertiesJson, value, currency, occurredAt, dedupeId, source, backfill } = input;
  const fields = [type, whose, propertiesJson, value, currency, occurredAt, dedupeId, source, backfill];
  // Only where they are there, so that items without them stay the same.
  const { uniqueId, metricName } = input;
  if (uniqueId !== undefined || metricName !== undefined) fields.push(uniqueId, metricName);
  return createHash("sha256").update(JSON.stringify(fields)).digest();
}

const keyHours = { dedupe_id: 48, idempotency_key: 24 } as const;

/** When a key of each kind that is claimed now is free again: an instant as PostgreSQL reads it. */
export function keyExpiry(kind: keyof typeof keyHours | "unique_id", now: Micros): string {
  return kind === "unique_id" ? "infinity" : formatMicros(now + keyHours[kind] * 60 * 60 * 1_000_000);
}
