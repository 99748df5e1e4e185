/** Validates aggregate requests, and reports every field at fault. */
import type { AggregateMetricRequest } from "#proto/daybook/metric/v1/metric_pb.ts";
import { Interval, Measurement } from "#proto/daybook/metric/v1/metric_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import { DaybookError, type FieldError } from "#shared/values/errors.ts";
import { parseField } from "#shared/values/event-field.ts";
import { fromTimestamp } from "#shared/values/time.ts";
import { findConditionFaults, findGroupByFaults, findRangeFaults, readCondition } from "#shared/values/aggregate.ts";
import { dateTimeExpected } from "#shared/values/times.ts";
import { count } from "#shared/values/count.ts";
import { locationExpected } from "#shared/values/location.ts";
import { findTimezone } from "#shared/values/places.ts";
import { mismatch, missing } from "#shared/values/wording.ts";
import { bucketStarts, periodOf, type IntervalName } from "./buckets.ts";

/** A valid query. */
export interface AggregateQuery {
  measurements: ReadonlySet<Measurement>;
  from: Micros;
  to: Micros;
  /** Start of each bucket. */
  starts: Micros[];
  /** As requested, plus currency if values are summed and no currency is selected. */
  groupBy: readonly string[];
  conditions: readonly Condition[];
  /** Whether roll-ups can answer it. */
  isRolledUp: boolean;
}

/** The field must equal the JSON value. */
export interface Condition {
  field: string;
  valueJson: string;
}

const bucketsMax = 10_000;
const intervals: Readonly<Record<Interval, IntervalName>> = {
  [Interval.UNSPECIFIED]: undefined,
  [Interval.HOUR]: "hour",
  [Interval.DAY]: "day",
  [Interval.WEEK]: "week",
  [Interval.MONTH]: "month",
};

/** @throws DaybookError with every field at fault. */
export function readAggregateQuery(request: AggregateMetricRequest): AggregateQuery {
  const errors: FieldError[] = [];
  const note = (param: string, message: string, code: FieldError["code"] = "parameter_invalid"): void => {
    errors.push({ code, message, param });
  };

  const measurements = new Set(request.measurements);
  if (measurements.size === 0 || measurements.has(Measurement.UNSPECIFIED)) {
    note("measurements", '`measurements` must have at least one of "count", "sum_value" and "unique_profiles".');
  }
  const from = request.from && fromTimestamp(request.from);
  const to = request.to && fromTimestamp(request.to);
  if (from === undefined) errors.push(missing("from", `send ${dateTimeExpected}`));
  if (to === undefined) errors.push(missing("to", `send ${dateTimeExpected}`));
  if (from !== undefined && to !== undefined) errors.push(...findRangeFaults(from, to));
  const timezone = findTimezone(request.timezone);
  if (timezone === undefined) {
    errors.push(mismatch("timezone", locationExpected.timezone, request.timezone, { quoted: true }));
  }

  errors.push(...findGroupByFaults(request.groupBy));
  errors.push(...findConditionFaults(request.conditions.map(readCondition)));
  const isValid = errors.length === 0 && from !== undefined && to !== undefined && timezone !== undefined;
  const starts = isValid ? bucketStarts(from, to, intervals[request.interval], timezone, bucketsMax) : undefined;
  if (isValid && starts === undefined) {
    note(
      "interval",
      `\`interval\` must part the range into at most ${count(bucketsMax)} buckets. ` +
        "Ask for a shorter range or a longer interval.",
    );
  }
  if (!isValid || !starts) throw DaybookError.ofFields(errors);

  const groupBy = [...request.groupBy];
  const conditions = request.conditions.map(inNormalForm);
  const hasCurrency = groupBy.includes("currency") || conditions.some(({ field }) => field === "currency");
  if (measurements.has(Measurement.SUM_VALUE) && !hasCurrency) groupBy.push("currency");
  const fields = [...groupBy, ...conditions.map(({ field }) => field)];
  // The first bucket begins at `from`, which may be anywhere.
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

/**
 * Refuses paths through arrays, because an event has many values there, or none.
 * @param schema observed types of the metric's properties, by path.
 * @throws DaybookError `unsupported_group_by` with every such field.
 */
export function checkPaths({ groupBy, conditions }: AggregateQuery, schema: Readonly<Record<string, string>>): void {
  const fields = [
    ...groupBy.map((field, index) => ({ field, param: `group_by.${index}` })),
    ...conditions.map(({ field }) => ({ field, param: `filter.${field}` })),
  ];
  const errors = fields.flatMap(({ field, param }): FieldError[] => {
    const array = arrayWithin(field, schema);
    if (array === undefined) return [];
    const message =
      `The path ${field} leads through the array ${array}. ` +
      "Events are grouped and chosen by values outside of arrays.";
    return [{ code: "unsupported_group_by", message, param }];
  });
  if (errors.length > 0) throw DaybookError.ofFields(errors);
}

/** The array that a path crosses, if any. `items[].sku` crosses one whatever the schema says. */
function arrayWithin(text: string, schema: Readonly<Record<string, string>>): string | undefined {
  const field = parseField(text);
  if (typeof field !== "object") return undefined;
  const isLiteral = text.startsWith("properties[");
  const { path } = field;
  const marked = isLiteral ? -1 : path.findIndex((key) => key.endsWith("[]"));
  if (marked >= 0) return path.slice(0, marked + 1).join(".");
  const parents = path.slice(1).map((_, index) => path.slice(0, index + 1).join("."));
  return parents.find((parent) => Object.hasOwn(schema, parent) && schema[parent] === "array");
}

/** Currencies are stored in upper case. */
function inNormalForm(condition: Condition): Condition {
  const { field, valueJson } = condition;
  const value = field === "currency" ? readCondition(condition).value : undefined;
  return { field, valueJson: typeof value === "string" ? JSON.stringify(value.toUpperCase()) : valueJson };
}
