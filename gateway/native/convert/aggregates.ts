/** Metric aggregates: wire to messages and back. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Static } from "typebox";
import {
  Interval,
  Measurement,
  type AggregateMetricRequestSchema,
  type AggregateMetricResponse,
} from "#proto/daybook/metric/v1/metric_pb.ts";
import { DaybookError, type FieldError } from "#shared/errors.ts";
import { decodeId } from "#shared/ids.ts";
import { textProblem } from "#shared/json.ts";
import { parseDateTime, toTimestamp } from "#shared/time.ts";
import type { MetricAggregateCreate } from "../schemas.ts";
import { timeJson, timeText } from "./text.ts";

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

/** @throws DaybookError with every field at fault, as far as the services need not be asked. */
export function toAggregateRequest(
  propertyId: string,
  body: Body,
): MessageInitShape<typeof AggregateMetricRequestSchema> {
  const { metric_id: metricId, metric: name, interval } = body;
  const errors: FieldError[] = [];
  if (metricId === undefined && name === undefined) {
    errors.push({ code: "parameter_missing", message: "Either metric_id or metric is required.", param: "metric_id" });
  } else if (metricId !== undefined && name !== undefined) {
    errors.push({ code: "parameter_conflict", message: "Send either metric_id or metric.", param: "metric" });
  }
  const readTime = (param: "from" | "to"): number => {
    const micros = parseDateTime(body[param]);
    if (micros === undefined) {
      const message = "This is not an ISO 8601 date-time with an offset or Z.";
      errors.push({ code: "parameter_invalid", message, param });
    }
    return micros ?? 0;
  };
  const [from, to] = [readTime("from"), readTime("to")];
  for (const field of Object.keys(body.filter ?? {})) {
    const problem = textProblem(field);
    if (problem) errors.push({ code: "parameter_invalid", message: `A field here ${problem}.`, param: "filter" });
  }
  if (errors.length > 0) throw DaybookError.ofFields(errors);
  if (metricId !== undefined) decodeId("mtr", metricId, "metric_id");
  return {
    propertyId,
    metric: metricId === undefined ? { case: "name", value: name ?? "" } : { case: "metricId", value: metricId },
    measurements: (body.measurements ?? ["count"]).map((one) => measurementOfName[one]),
    interval: interval === undefined ? Interval.UNSPECIFIED : intervalOfName[interval],
    from: toTimestamp(from),
    to: toTimestamp(to),
    timezone: body.timezone ?? "UTC",
    groupBy: body.group_by ?? [],
    conditions: Object.entries(body.filter ?? {}).map(([field, value]) => ({
      field,
      valueJson: JSON.stringify(value),
    })),
  };
}

/** An answer as JSON text. */
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
    `{${groupBy.map((field, index) => `${JSON.stringify(field)}:${valuesJson[index]}`).join(",")}}`;
  const time = (at: typeof answer.asOf): string => (at ? timeJson(at) : "null");
  return (
    `{"object":"metric_aggregate","metric_id":"${metric.id}","name":"${metric.name}"` +
    `,"interval":${JSON.stringify(body.interval ?? null)},"timezone":${JSON.stringify(body.timezone ?? "UTC")}` +
    `,"from":${JSON.stringify(normalTime(body.from))},"to":${JSON.stringify(normalTime(body.to))}` +
    `,"buckets":[${bucketStarts.map((start) => timeJson(start)).join(",")}]` +
    `,"series":[${series.map((one) => `{"group":${groupOf(one)},${lists(one).join(",")}}`).join(",")}]` +
    `,"recency":{"first_occurred_at":${time(answer.firstOccurredAt)},"last_occurred_at":${time(answer.lastOccurredAt)}` +
    `,"last_received_at":${time(answer.lastReceivedAt)}}}`
  );
}

/** In UTC with microseconds, as all times are answered. */
function normalTime(text: string): string {
  return timeText(toTimestamp(parseDateTime(text) ?? 0));
}
