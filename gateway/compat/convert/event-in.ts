/** Events, wire to messages. */
import { create } from "@bufbuild/protobuf";
import type { Static } from "typebox";
import { EventInputSchema, type EventInput } from "#proto/daybook/event/v1/event_pb.ts";
import type { Clock, Micros } from "#shared/values/clock.ts";
import { findJsonProblems, mayHaveProblems, textProblem } from "#shared/json/json.ts";
import { dedupeIdLengthMax, yearAfter } from "#shared/values/event.ts";
import { isLongerThan } from "#shared/values/text.ts";
import { formatMicros } from "#shared/values/time.ts";
import { jsonFieldLimits } from "#shared/values/json-fields.ts";
import { Faults, pointerTo } from "../faults.ts";
import type { BodySetting } from "../operation.ts";
import type { EventBulkItem } from "../schemas.ts";
import { nameLengthMax, toEventType } from "./names.ts";
import { toDecimal } from "./numbers.ts";
import { compatSource } from "./profile-requests.ts";
import { readTime } from "./times.ts";

const timeMin: Micros = Date.UTC(1990, 0, 1) * 1000;

/** The fields of an event except its profile. */
type Fields = Static<typeof EventBulkItem>["attributes"];

/** JSON pointers to the parts of an event in the body. */
export interface EventPointers {
  attributes: string;
  name: string;
}

/** Validates an event and converts it, without its profile. */
export function toEventInput(
  fields: Fields,
  { caller: { defaultCurrency }, clock }: BodySetting,
  faults: Faults,
  pointers: EventPointers,
): EventInput {
  const { attributes: pointer } = pointers;
  const { name } = fields.metric.data.attributes;
  const problem = textProblem(name);
  if (problem !== undefined) faults.add(pointers.name, `The name of a metric ${problem}.`);
  else if (name.trim() === "" || isLongerThan(name, nameLengthMax)) {
    faults.add(pointers.name, `The name of a metric has 1 to ${nameLengthMax} characters.`);
  }
  const { bytesMax, depthMax } = jsonFieldLimits;
  const properties = fields.properties ?? {};
  const propertiesJson = JSON.stringify(properties);
  if (mayHaveProblems(propertiesJson, depthMax)) {
    for (const { path, reason } of findJsonProblems(properties, depthMax, faults.room)) {
      faults.add(`${pointer}/properties${pointerTo(path)}`, `This property ${reason}.`);
    }
  }
  if (Buffer.byteLength(propertiesJson) > bytesMax) {
    const message = `The properties of an event take at most ${bytesMax / 1024} KiB.`;
    faults.add(`${pointer}/properties`, message);
  }
  const uniqueId = fields.unique_id ?? "";
  const uniqueProblem = textProblem(uniqueId);
  if (uniqueProblem !== undefined) faults.add(`${pointer}/unique_id`, `The unique_id ${uniqueProblem}.`);
  else if (isLongerThan(uniqueId, dedupeIdLengthMax)) {
    faults.add(`${pointer}/unique_id`, `A unique_id has at most ${dedupeIdLengthMax} characters.`);
  }
  const money = readMoney(fields, defaultCurrency, faults, pointer);
  const occurredAt = readOccurredAt(fields.time, clock, faults, pointer);
  return create(EventInputSchema, {
    type: toEventType(name),
    metricName: name,
    propertiesJson,
    ...money,
    occurredAt,
    ...(uniqueId === "" ? {} : { uniqueId }),
    backfill: fields.backfill ?? false,
    source: compatSource,
  });
}

function readMoney(
  { value, value_currency: given }: Fields,
  defaultCurrency: string,
  faults: Faults,
  pointer: string,
): { value?: string; currency?: string } {
  const currency = given || undefined;
  if (currency !== undefined && !/^[A-Za-z]{3}$/.test(currency)) {
    faults.add(`${pointer}/value_currency`, "A currency is three letters, such as EUR.");
  }
  // A currency without a value is dropped.
  if (value === undefined || value === null) return {};
  const decimal = toDecimal(value);
  if (decimal === undefined) faults.add(`${pointer}/value`, "A value is a number of up to 18 digits before the point.");
  return { value: decimal ?? "0", currency: currency ?? defaultCurrency };
}

function readOccurredAt(time: string | null | undefined, clock: Clock, faults: Faults, pointer: string) {
  if (time === undefined || time === null) return undefined;
  const micros = readTime(time);
  if (micros === undefined) faults.add(`${pointer}/time`, "This is not an ISO 8601 date-time.");
  else if (micros < timeMin || micros > yearAfter(clock.nowMicros())) {
    faults.add(`${pointer}/time`, "The time lies before 1990 or more than a year ahead.");
  } else return formatMicros(micros);
  return undefined;
}
