/** Metric aggregates: request bodies to RPC requests, and responses to rows. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Static } from "typebox";
import {
  Interval,
  Measurement,
  type AggregateMetricRequestSchema,
  type AggregateMetricResponse,
  type MetricSeries,
} from "#proto/daybook/metric/v1/metric_pb.ts";
import { parseJson, textProblem } from "#shared/json/json.ts";
import { findTimezone } from "#shared/values/places.ts";
import { toTimestamp } from "#shared/values/time.ts";
import { Faults } from "../faults.ts";
import { FilterError, parseFilter, type Condition } from "../filter.ts";
import type { MetricAggregateCreate } from "../schemas.ts";
import { toId } from "./ids.ts";
import { toNumber } from "./numbers.ts";
import { readTime, toDateTime } from "./times.ts";

type Attributes = Static<typeof MetricAggregateCreate>["data"]["attributes"];
type Request = MessageInitShape<typeof AggregateMetricRequestSchema>;

/**
 * The one or two RPC requests of an aggregate. Sums are by currency. Counts add up over currencies, but unique profiles
 * do not, so they have a request of their own. That one goes first, so that every profile in it has its event in the
 * other answer.
 */
export interface Question {
  metricId: string | undefined;
  unsummed: Request | undefined;
  summed: Request | undefined;
}

/** The dimension of the currency of values. */
const currencyDimension = "$value_currency";
const pointer = "/data/attributes";

const intervals: Readonly<Record<string, Interval>> = {
  hour: Interval.HOUR,
  day: Interval.DAY,
  week: Interval.WEEK,
  month: Interval.MONTH,
};

export function toQuestion(propertyId: string, attributes: Attributes, faults: Faults): Question {
  const { measurements, interval, by } = attributes;
  const zone = attributes.timezone ?? "UTC";
  if (findTimezone(zone) === undefined) faults.add(`${pointer}/timezone`, "This is not the name of an IANA time zone.");
  const bounds: { from?: number; to?: number } = {};
  const conditions: { field: string; valueJson: string }[] = [];
  for (const [index, text] of attributes.filter.entries()) {
    const at = `${pointer}/filter/${index}`;
    for (const { operator, field, values, isBare } of readFilter(text, faults, at)) {
      const [value = ""] = values;
      if (field === "datetime") {
        const micros = readTime(value, findTimezone(zone) ?? "UTC");
        if (micros === undefined) faults.add(at, "datetime is compared with an ISO 8601 date-time.");
        else if (operator === "greater-or-equal") bounds.from = micros;
        else if (operator === "less-than") bounds.to = micros;
        else faults.add(at, "datetime takes greater-or-equal and less-than.");
      } else if (operator !== "equals") faults.add(at, "Dimensions take equals.");
      else conditions.push({ field: fieldOf(field), valueJson: isBare ? toJson(value) : JSON.stringify(value) });
    }
  }
  if (bounds.from === undefined || bounds.to === undefined) {
    faults.add(
      `${pointer}/filter`,
      "A range of datetime is required: greater-or-equal and less-than.",
      "parameter_missing",
    );
  }
  const groupBy = (by ?? []).map(fieldOf);
  for (const [index, field] of groupBy.entries()) {
    const problem = textProblem(field);
    if (problem !== undefined) faults.add(`${pointer}/by/${index}`, `A dimension ${problem}.`);
  }
  const sortable: readonly string[] = [...(by ?? []), ...measurements];
  if (attributes.sort && !sortable.includes(attributes.sort.replace(/^-/, ""))) {
    const message = `Rows are in order of ${sortable.join(" or ")}, each also with "-".`;
    faults.add(`${pointer}/sort`, message, "unsupported_sort");
  }
  const metricId = toId("mtr", attributes.metric_id);
  const common = {
    propertyId,
    metric: { case: "metricId", value: metricId ?? "" } as const,
    interval: intervals[interval ?? "day"] ?? Interval.DAY,
    from: toTimestamp(bounds.from ?? 0),
    to: toTimestamp(bounds.to ?? 0),
    timezone: zone,
    groupBy,
    conditions,
  };
  const isSummed = measurements.includes("sum_value");
  const count = measurements.includes("count") ? [Measurement.COUNT] : [];
  const unique = measurements.includes("unique") ? [Measurement.UNIQUE_PROFILES] : [];
  const unsummed = isSummed ? unique : [...count, ...unique];
  return {
    metricId,
    unsummed: unsummed.length > 0 ? { ...common, measurements: unsummed } : undefined,
    summed: isSummed ? { ...common, measurements: [Measurement.SUM_VALUE, ...count] } : undefined,
  };
}

function readFilter(text: string, faults: Faults, at: string): Condition[] {
  try {
    return parseFilter(text);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    faults.add(at, error.message, "unsupported_filter");
    return [];
  }
}

/** A filter value without quotes as JSON: a number, true, false, null, or else a string. */
function toJson(bare: string): string {
  return /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/.test(bare) ? bare : JSON.stringify(bare);
}

/** The native field of a dimension: `currency`, or a property of events. */
function fieldOf(dimension: string): string {
  return dimension === currencyDimension ? "currency" : `properties.${dimension}`;
}

export interface Row {
  dimensions: string[];
  measurements: Record<string, unknown[]>;
}

/** The responses to a Question. */
export interface Answers {
  unsummed: AggregateMetricResponse | undefined;
  summed: AggregateMetricResponse | undefined;
}

/** @param defaultCurrency its sums are shown if there are several currencies and the rows are not by currency. */
export function toRows({ unsummed, summed }: Answers, attributes: Attributes, defaultCurrency: string): Row[] {
  const by = attributes.by ?? [];
  const zeros = (unsummed ?? summed)?.bucketStarts.map(() => 0) ?? [];
  const rows = new Map<string, Row>();
  const rowOf = (dimensions: string[]): Row => {
    const key = JSON.stringify(dimensions);
    // A row exists even if none of its events has a value in the shown currency.
    const measurements = Object.fromEntries(attributes.measurements.map((name) => [name, zeros]));
    const row = rows.get(key) ?? { dimensions, measurements };
    rows.set(key, row);
    return row;
  };
  if (by.length === 0) rowOf([]);
  for (const series of unsummed?.series ?? []) {
    const { measurements } = rowOf(dimensionsOf(series, by.length));
    if (series.count.length > 0) measurements.count = series.count.map(Number);
    if (series.uniqueProfiles.length > 0) measurements.unique = series.uniqueProfiles.map(Number);
  }
  for (const series of summed?.series ?? []) {
    const { measurements } = rowOf(dimensionsOf(series, by.length));
    // Counts of several currencies add up.
    const before = measurements.count ?? [];
    if (series.count.length > 0) measurements.count = series.count.map((more, at) => Number(before[at]) + Number(more));
  }
  for (const series of summed ? shownSums(summed, by, defaultCurrency) : []) {
    rowOf(dimensionsOf(series, by.length)).measurements.sum_value = series.sumValue.map(toNumber);
  }
  return [...rows.values()];
}

/** The sums to show: all if grouped by currency, else those of the only currency or the default one. */
function shownSums(
  { groupBy, series }: AggregateMetricResponse,
  by: readonly string[],
  defaultCurrency: string,
): MetricSeries[] {
  if (by.includes(currencyDimension)) return series;
  const at = groupBy.indexOf("currency");
  const currencyOf = ({ valuesJson }: MetricSeries): string | undefined => textOf(valuesJson[at]) || undefined;
  const found = new Set(series.flatMap((one) => currencyOf(one) ?? []));
  if (found.size === 0) return series;
  const [only = defaultCurrency] = found;
  const shown = found.size === 1 ? only : defaultCurrency;
  return series.filter((one) => currencyOf(one) === shown);
}

function dimensionsOf({ valuesJson }: MetricSeries, count: number): string[] {
  return valuesJson.slice(0, count).map(textOf);
}

/** Dimensions are strings on the wire, whatever JSON type the property has. */
function textOf(json = "null"): string {
  const value = parseJson(json);
  return typeof value === "string" ? value : value === null ? "" : json;
}

/** Sorts rows by a dimension or by the total of a measurement. */
export function sortRows(rows: Row[], sort: string | null | undefined, by: readonly string[]): Row[] {
  if (!sort) return rows;
  const field = sort.replace(/^-/, "");
  const sign = sort.startsWith("-") ? -1 : 1;
  const at = by.indexOf(field);
  const totalOf = ({ measurements }: Row): number =>
    (measurements[field] ?? []).reduce<number>((total, value) => total + Number(JSON.stringify(value)), 0);
  return rows.toSorted((one, other) => {
    if (at < 0) return sign * (totalOf(one) - totalOf(other));
    return sign * (one.dimensions[at] ?? "").localeCompare(other.dimensions[at] ?? "", "en");
  });
}

/** The start of each bucket. */
export function datesOf({ unsummed, summed }: Answers): string[] {
  return (unsummed ?? summed)?.bucketStarts.map(toDateTime) ?? [];
}
