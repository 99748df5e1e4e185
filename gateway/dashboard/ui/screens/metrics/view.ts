/** What is looked at of one metric: its state in the URL, and what is asked for it. Values stay exact text. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type AggregateMetricRequestSchema,
  Interval as IntervalMessage,
  Measurement,
} from "#proto/daybook/metric/v1/metric_pb.ts";
import type { ApiCall } from "../../api-calls.ts";
import { apiCalls } from "../../api-calls.ts";
import { rangeAt } from "../../data/range.ts";
import { type Interval, startOf } from "../../data/zones.ts";
import type { Condition } from "./condition.ts";

export const measures = {
  count: { title: "Events", short: "Events", measurement: Measurement.COUNT, name: "count" },
  sum: { title: "Sum of values", short: "Sum", measurement: Measurement.SUM_VALUE, name: "sum_value" },
  profiles: {
    title: "Unique profiles",
    short: "Profiles",
    measurement: Measurement.UNIQUE_PROFILES,
    name: "unique_profiles",
  },
} as const;

export type Measure = keyof typeof measures;

export const intervals = {
  hour: { title: "Hour", message: IntervalMessage.HOUR },
  day: { title: "Day", message: IntervalMessage.DAY },
  week: { title: "Week", message: IntervalMessage.WEEK },
  month: { title: "Month", message: IntervalMessage.MONTH },
  total: { title: "Total", message: IntervalMessage.UNSPECIFIED },
} as const;

export type IntervalChoice = keyof typeof intervals;

/** A question about one metric. */
export interface Question {
  propertyId: string;
  metricId: string;
  from: Date;
  to: Date;
  zone: string;
  interval: IntervalChoice;
  groupBy: readonly string[];
  conditions: readonly Condition[];
}

const dayMs = 86_400_000;

/** About 30 to 100 intervals, unless one was chosen. */
export function fittingInterval(range: string, now: Date): Interval {
  const { from, to } = rangeAt(range, now);
  const days = (to.getTime() - from.getTime()) / dayMs;
  if (days <= 3) return "hour";
  if (days <= 100) return "day";
  return days <= 750 ? "week" : "month";
}

/** A preset reaches back to the begin of an interval, and to the end of the one that has begun. Own instants stay. */
export function wholeIntervals(
  range: string,
  interval: IntervalChoice,
  zone: string,
  now: Date,
): { from: Date; to: Date } {
  const { from, to } = rangeAt(range, now);
  if (range.includes("~")) return { from, to };
  const part = interval === "total" ? "hour" : interval;
  return { from: startOf(part, from, zone), to: startOf(part, to, zone, 1) };
}

/** @param whole one figure for the whole range and all groups. */
export function requestOf(
  question: Question,
  wanted: readonly Measure[],
  whole = false,
): MessageInitShape<typeof AggregateMetricRequestSchema> {
  const { propertyId, metricId, from, to, zone, interval, groupBy, conditions } = question;
  return {
    propertyId,
    metric: { case: "metricId", value: metricId },
    measurements: wanted.map((measure) => measures[measure].measurement),
    interval: intervals[whole ? "total" : interval].message,
    from: timestampFromDate(from),
    to: timestampFromDate(to),
    timezone: zone,
    groupBy: whole ? [] : [...groupBy],
    conditions: conditions.map(({ field, valueJson }) => ({ field, valueJson })),
  };
}

/** The same question to the public API. The values of the filter are put in as the text that they are. */
export function callOf(question: Question, measure: Measure): ApiCall {
  const { metricId, from, to, zone, interval, groupBy, conditions } = question;
  const filter = conditions.map(({ field, valueJson }) => `{"field":${fieldJson(field)},"value":${valueJson}}`);
  const parts = [
    `"metric_id":${JSON.stringify(metricId)}`,
    `"measurements":["${measures[measure].name}"]`,
    ...(interval === "total" ? [] : [`"interval":"${interval}"`]),
    `"from":"${from.toISOString()}"`,
    `"to":"${to.toISOString()}"`,
    `"timezone":${JSON.stringify(zone)}`,
    ...(groupBy.length === 0 ? [] : [`"group_by":[${groupBy.map(fieldJson).join(",")}]`]),
    ...(filter.length === 0 ? [] : [`"filter":[${filter.join(",")}]`]),
  ];
  return apiCalls.aggregateMetric(`{${parts.join(",")}}`);
}

/** `properties["a.b"]` of the services is a list of keys in the API. */
function fieldJson(field: string): string {
  if (!field.startsWith("properties[")) return JSON.stringify(field);
  return JSON.stringify(["properties", ...(JSON.parse(field.slice("properties".length)) as string[])]);
}
