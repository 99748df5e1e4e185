/** Metric aggregates: bodies to messages, and answers to JSON. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Static } from "typebox";
import {
  Interval,
  Measurement,
  type AggregateMetricRequestSchema,
  type AggregateMetricResponse,
} from "#proto/daybook/metric/v1/metric_pb.ts";
import { DaybookError, type FieldError } from "#shared/values/errors.ts";
import { fieldOfSegments } from "#shared/values/event-field.ts";
import { textProblem } from "#shared/json/json.ts";
import { parseDateTime, toTimestamp } from "#shared/values/time.ts";
import type { MetricAggregateCreate } from "../metric-schemas.ts";
import { timeJson, timeText } from "#shared/wire/text.ts";

const measurementOfName = {
  count: Measurement.COUNT,
  sum_value: Measurement.SUM_VALUE,
  unique_profiles: Measurement.UNIQUE_PROFILES,
} as const;

const intervalOfName = {
  hour: Interval.HOUR,
  day: Interval.DAY,
  week: Interval.WEEK,
  month: Interval.MONTH,
} as const;

type Body = Static<typeof MetricAggregateCreate>;

/** @throws DaybookError with the faults that can be found without the services */
export function toAggregateRequest(
  propertyId: string,
  body: Body,
): MessageInitShape<typeof AggregateMetricRequestSchema> {
  const { metric_id: metricId, metric: name, interval, from, to } = body;
  const errors: FieldError[] = [];
  const conditions = conditionsOf(body);
  for (const { field, param } of conditions) {
    const problem = [field].flat().map(textProblem).find(Boolean);
    // The param must not contain the field's name, which holds text that cannot be sent.
    if (problem) {
      const message = `A field of filter ${problem}.`;
      errors.push({ code: "parameter_invalid", message, param: Array.isArray(body.filter) ? param : "filter" });
    }
  }
  const [first, second] = groupNames(body);
  const [firstField, secondField] = (body.group_by ?? []).slice(0, 2).map(fieldText);
  if (first !== undefined && first === second && firstField !== secondField) {
    // Two different fields would have the same name in the answer.
    const message = `group_by names two fields that are both ${first} in the answer.`;
    errors.push({ code: "parameter_conflict", message, param: "group_by.1" });
  }
  if (errors.length > 0) throw DaybookError.ofFields(errors);
  return {
    propertyId,
    metric: metricId === undefined ? { case: "name", value: name ?? "" } : { case: "metricId", value: metricId },
    measurements: (body.measurements ?? ["count"]).map((one) => measurementOfName[one]),
    interval: interval ? intervalOfName[interval] : Interval.UNSPECIFIED,
    from: toTimestamp(parseDateTime(from) ?? 0),
    to: toTimestamp(parseDateTime(to) ?? 0),
    timezone: body.timezone ?? "UTC",
    groupBy: (body.group_by ?? []).map(fieldText),
    conditions: conditions.map(({ field, value }) => ({
      field: fieldText(field),
      // An undefined value cannot be sent: JSON.stringify returns undefined for it.
      valueJson: JSON.stringify(value ?? null),
    })),
  };
}

type Field = string | string[];

function fieldText(field: Field): string {
  return typeof field === "string" ? field : fieldOfSegments(field);
}

/** The conditions of a filter with their params. */
function conditionsOf({ filter = {} }: Body): { field: Field; value: unknown; param: string }[] {
  if (Array.isArray(filter)) return filter.map((condition, index) => ({ ...condition, param: `filter.${index}` }));
  return Object.entries(filter).map(([field, value]) => ({ field, value, param: `filter.${field}` }));
}

/** The names of the grouping fields in the answer. */
function groupNames({ group_by: fields = [] }: Body): string[] {
  return fields.map((field) => [field].flat().join("."));
}

/** Maps params of the service to params of the body. */
export function toAggregateParam(body: Body): (param: string) => string {
  const params = new Map(conditionsOf(body).map(({ field, param }) => [`filter.${fieldText(field)}`, param]));
  return (param) => params.get(param) ?? param;
}

export function aggregateJson(body: Body, answer: AggregateMetricResponse): string {
  const { metric, bucketStarts, groupBy, series } = answer;
  if (!metric) throw new Error("an answer is about a metric");
  const wanted = new Set(body.measurements ?? ["count"]);
  const lists = (one: (typeof series)[number]): string[] => [
    ...(wanted.has("count") ? [`"count":[${one.count.join(",")}]`] : []),
    ...(wanted.has("sum_value") ? [`"sum_value":[${one.sumValue.map((sum) => `"${sum}"`).join(",")}]`] : []),
    ...(wanted.has("unique_profiles") ? [`"unique_profiles":[${one.uniqueProfiles.join(",")}]`] : []),
  ];
  const groupOf = ({ valuesJson }: (typeof series)[number]): string =>
    `{${groupBy.map((field, index) => `${JSON.stringify(names[index] ?? field)}:${valuesJson[index]}`).join(",")}}`;
  const names = groupNames(body);
  const time = (at: typeof answer.asOf): string => (at ? timeJson(at) : "null");
  return (
    `{"object":"metric_aggregate","metric_id":"${metric.id}","name":"${metric.name}"` +
    `,"interval":${JSON.stringify(body.interval ?? null)},"timezone":${JSON.stringify(body.timezone ?? "UTC")}` +
    `,"from":${JSON.stringify(normalTime(body.from))},"to":${JSON.stringify(normalTime(body.to))}` +
    `,"buckets":[${bucketStarts.map((start) => timeJson(start)).join(",")}]` +
    `,"series":[${series.map((one) => `{"group":${groupOf(one)},${lists(one).join(",")}}`).join(",")}]` +
    `,"recency":{"first_occurred_at":${time(answer.firstOccurredAt)}` +
    `,"last_occurred_at":${time(answer.lastOccurredAt)},"last_received_at":${time(answer.lastReceivedAt)}}}`
  );
}

/** In UTC with microseconds, like all times in answers. */
function normalTime(text: string): string {
  return timeText(toTimestamp(parseDateTime(text) ?? 0));
}
