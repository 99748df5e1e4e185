import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  AggregateMetricResponseSchema,
  Measurement,
  type AggregateMetricRequest,
  type MetricService,
} from "#proto/daybook/metric/v1/metric_pb.ts";
import { DaybookError, serviceUnavailable } from "#shared/errors.ts";
import { decodeId } from "#shared/ids.ts";
import { onwardOptions } from "#shared/interceptors.ts";
import type { Queryable } from "#shared/postgres.ts";
import { toTimestamp } from "#shared/time.ts";
import { answer } from "../aggregation.ts";
import type { MetricContext } from "../context.ts";
import { formatDecimal } from "../domain/decimal.ts";
import { readQuestion } from "../domain/question.ts";
import { toMetric } from "../mapping.ts";
import { readMetrics, type MetricRow } from "../sql/metrics.ts";
import { readAsOf } from "../watermark.ts";

export function aggregateMetric(context: MetricContext): ServiceImpl<typeof MetricService>["aggregateMetric"] {
  return async (request, handlerContext) => {
    const property = decodeId("prop", request.propertyId, "property_id");
    const question = readQuestion(request);
    const options = onwardOptions(handlerContext);
    // Before anything that is answered is read.
    const { recorded, counted } = await readAsOf(context, request.propertyId, options);
    const metric = await findMetric(context.database, property, request.metric);
    const asked = { property, metric: metric.id, name: metric.name };
    const series = await answer(context, asked, question, options, () => {
      if ((handlerContext.timeoutMs() ?? 1) <= 0) throw serviceUnavailable(new Error("nobody waits any more"));
    });
    const wants = (measurement: Measurement): boolean => question.measurements.has(measurement);
    return create(AggregateMetricResponseSchema, {
      metric: toMetric(metric),
      bucketStarts: question.starts.map(toTimestamp),
      groupBy: [...question.groupBy],
      series: series.map(({ values, count, sum, uniqueProfiles }) => ({
        valuesJson: [...values],
        count: wants(Measurement.COUNT) ? count.map(BigInt) : [],
        sumValue: wants(Measurement.SUM_VALUE) ? sum.map(formatDecimal) : [],
        uniqueProfiles: wants(Measurement.UNIQUE_PROFILES) ? uniqueProfiles.map(BigInt) : [],
      })),
      asOf: toTimestamp(question.isRolledUp ? counted : recorded),
      ...times(metric),
    });
  };
}

async function findMetric(
  database: Queryable,
  property: string,
  wanted: AggregateMetricRequest["metric"],
): Promise<MetricRow> {
  const ids = wanted.case === "metricId" ? [decodeId("mtr", wanted.value, "metric_id")] : [];
  // Stored in this form; what is no name at all is that of no metric.
  const names = wanted.case === "name" ? [wanted.value.replaceAll("_", ".")] : [];
  const [row] = await readMetrics(database, [property, ids, names]);
  if (!row) {
    const param = wanted.case === "metricId" ? "metric_id" : "metric";
    throw new DaybookError("resource_not_found", "There is no such metric.", { param });
  }
  return row;
}

function times({ first_occurred_at: first, last_occurred_at: last, last_received_at: received }: MetricRow) {
  return {
    ...(first === null ? {} : { firstOccurredAt: toTimestamp(first) }),
    ...(last === null ? {} : { lastOccurredAt: toTimestamp(last) }),
    ...(received === null ? {} : { lastReceivedAt: toTimestamp(received) }),
  };
}
