/** What may be asked of a metric, read from a request with every field at fault named. */
import type { AggregateMetricRequest } from "#proto/daybook/metric/v1/metric_pb.ts";
import { Interval, Measurement } from "#proto/daybook/metric/v1/metric_pb.ts";
import type { Micros } from "#shared/clock.ts";
import { DaybookError, type FieldError } from "#shared/errors.ts";
import { isRawNumber, parseJson, textProblem } from "#shared/json.ts";
import { fromTimestamp } from "#shared/time.ts";
import { bucketStarts, findTimezone, periodOf, type IntervalName } from "./buckets.ts";

/** A question that can be answered. */
export interface Question {
  measurements: ReadonlySet<Measurement>;
  from: Micros;
  to: Micros;
  /** When each bucket begins. */
  starts: Micros[];
  /** As asked, and by currency when values are summed and no currency is chosen. */
  groupBy: readonly string[];
  conditions: readonly Condition[];
  /** Whether roll-ups know what is asked for. */
  isRolledUp: boolean;
}

/** A field equals the value of a JSON text. */
export interface Condition {
  field: string;
  valueJson: string;
}

const bucketsMax = 10_000;
const groupByMax = 2;
const conditionsMax = 10;
const yearMin = 1900;
const yearMax = 2200;
const intervals: Readonly<Record<Interval, IntervalName>> = {
  [Interval.UNSPECIFIED]: undefined,
  [Interval.HOUR]: "hour",
  [Interval.DAY]: "day",
  [Interval.WEEK]: "week",
  [Interval.MONTH]: "month",
};

/** @throws DaybookError with every field at fault. */
export function readQuestion(request: AggregateMetricRequest): Question {
  const errors: FieldError[] = [];
  const note = (param: string, message: string): void => {
    errors.push({ code: "parameter_invalid", message, param });
  };

  const measurements = new Set(request.measurements);
  if (measurements.size === 0 || measurements.has(Measurement.UNSPECIFIED)) {
    note("measurements", "There is at least one of count, sum_value and unique_profiles.");
  }
  const from = request.from && fromTimestamp(request.from);
  const to = request.to && fromTimestamp(request.to);
  if (from === undefined || !isReal(from)) note("from", `A range lies between the years ${yearMin} and ${yearMax}.`);
  if (to === undefined || !isReal(to)) note("to", `A range lies between the years ${yearMin} and ${yearMax}.`);
  else if (from !== undefined && to <= from) note("to", "A range ends after it begins.");
  const timezone = findTimezone(request.timezone);
  if (timezone === undefined) note("timezone", "This is not the name of an IANA time zone.");

  if (request.groupBy.length > groupByMax) note("group_by", `There are at most ${groupByMax} groupings.`);
  for (const [index, field] of request.groupBy.slice(0, groupByMax).entries()) {
    if (!isField(field)) note(`group_by.${index}`, fieldMessage);
    else if (request.groupBy.indexOf(field) < index) note(`group_by.${index}`, "This field is named twice.");
  }
  if (request.conditions.length > conditionsMax) note("filter", `There are at most ${conditionsMax} conditions.`);
  const conditions = request.conditions.slice(0, conditionsMax).map((condition) => {
    if (!isField(condition.field)) note(`filter.${condition.field}`, fieldMessage);
    else if (!isScalar(condition.valueJson)) {
      note(`filter.${condition.field}`, "A field is compared with a text, a number, true, false or null.");
      return condition;
    }
    return inNormalForm(condition);
  });
  const isValid = errors.length === 0 && from !== undefined && to !== undefined && timezone !== undefined;
  const starts = isValid ? bucketStarts(from, to, intervals[request.interval], timezone, bucketsMax) : undefined;
  if (isValid && starts === undefined) {
    note(
      "interval",
      `This range has more than ${bucketsMax} of these. Ask for a shorter range, or for longer intervals.`,
    );
  }
  if (!isValid || !starts) throw DaybookError.ofFields(errors);

  const groupBy = [...request.groupBy];
  const hasCurrency = groupBy.includes("currency") || conditions.some(({ field }) => field === "currency");
  if (measurements.has(Measurement.SUM_VALUE) && !hasCurrency) groupBy.push("currency");
  const fields = [...groupBy, ...conditions.map(({ field }) => field)];
  // The first begins wherever it was asked for.
  const isAligned = starts.every((start, index) => index === 0 || periodOf(start) === start);
  return {
    measurements,
    from,
    to,
    starts,
    groupBy,
    conditions,
    isRolledUp: isAligned && fields.every((field) => field === "source" || field === "currency"),
  };
}

const fieldMessage = "Events are grouped and chosen by source, currency or properties.<path>.";

function isField(text: string): boolean {
  return text === "source" || text === "currency" || /^properties\.[^.]+(\.[^.]+)*$/s.test(text);
}

function isScalar(json: string): boolean {
  try {
    const value = parseJson(json);
    if (typeof value === "string") return textProblem(value) === undefined;
    return value === null || typeof value !== "object" || isRawNumber(value);
  } catch {
    return false;
  }
}

/** Currencies are stored in upper case. */
function inNormalForm({ field, valueJson }: Condition): Condition {
  if (field !== "currency" || !valueJson.startsWith('"')) return { field, valueJson };
  return { field, valueJson: JSON.stringify(String(parseJson(valueJson)).toUpperCase()) };
}

function isReal(micros: Micros): boolean {
  const year = new Date(micros / 1000).getUTCFullYear();
  return year >= yearMin && year < yearMax;
}
