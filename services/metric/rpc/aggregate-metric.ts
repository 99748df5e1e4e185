import { create } from "@bufbuild/protobuf";
import type { CallOptions, HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  AggregateMetricResponseSchema,
  Measurement,
  type AggregateMetricRequest,
  type AggregateMetricResponse,
  type MetricService,
} from "#proto/daybook/metric/v1/metric_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, type Uuid } from "#shared/values/ids.ts";
import { onwardReadOptions } from "#shared/rpc/interceptors.ts";
import type { Queryable } from "#shared/database/postgres.ts";
import { createAggregateShare } from "#shared/database/reads.ts";
import { toTimestamp } from "#shared/values/time.ts";
import { answer } from "../aggregation.ts";
import type { MetricContext } from "../context.ts";
import { formatDecimal } from "../domain/decimal.ts";
import { checkPaths, readAggregateQuery, type AggregateQuery } from "../domain/aggregate-query.ts";
import { toMetric } from "../mapping.ts";
import { findByName } from "../registering.ts";
import { readMetrics, type MetricRow } from "../sql/metrics.ts";
import { readAsOf } from "../watermark.ts";

export function aggregateMetric(context: MetricContext): ServiceImpl<typeof MetricService>["aggregateMetric"] {
  const share = createAggregateShare(context.reads);
  return (request, handlerContext) => {
    const property = decodeId("prop", request.propertyId, "property_id");
    const query = readAggregateQuery(request);
    return share.run(property, () => aggregate(property, query, request, handlerContext), handlerContext.signal);
  };

  async function aggregate(
    property: Uuid,
    query: AggregateQuery,
    request: AggregateMetricRequest,
    handlerContext: HandlerContext,
  ): Promise<AggregateMetricResponse> {
    const options = onwardReadOptions(handlerContext);
    const reader = context.reads.of(property, handlerContext.signal);
    // Read before the data, so that every event up to as_of is in the answer.
    const { recorded, counted } = await readAsOf(context.events, reader, request.propertyId, options);
    const metric = await findMetric(context, reader, property, request.metric, options);
    checkPaths(query, metric.schema);
    const asked = { property, metric: metric.id, name: metric.name };
    const series = await answer(context, reader, asked, query, options);
    const wants = (measurement: Measurement): boolean => query.measurements.has(measurement);
    return create(AggregateMetricResponseSchema, {
      metric: toMetric(metric),
      bucketStarts: query.starts.map((at) => toTimestamp(at)),
      groupBy: [...query.groupBy],
      series: series.map(({ values, count, sum, uniqueProfiles }) => ({
        valuesJson: [...values],
        count: wants(Measurement.COUNT) ? count.map(BigInt) : [],
        sumValue: wants(Measurement.SUM_VALUE) ? sum.map(formatDecimal) : [],
        uniqueProfiles: wants(Measurement.UNIQUE_PROFILES) ? uniqueProfiles.map(BigInt) : [],
      })),
      asOf: toTimestamp(query.isRolledUp ? counted : recorded),
      ...times(metric),
    });
  }
}

async function findMetric(
  context: MetricContext,
  reader: Queryable,
  property: Uuid,
  wanted: AggregateMetricRequest["metric"],
  options: CallOptions,
): Promise<MetricRow> {
  const ids = wanted.case === "metricId" ? [decodeId("mtr", wanted.value, "metric_id")] : [];
  const row =
    wanted.case === "name"
      ? // Names are stored with dots. An invalid name matches no metric.
        await findByName(context, reader, property, wanted.value.replaceAll("_", "."), options)
      : (await readMetrics(reader, [property, ids, []]))[0];
  if (!row) {
    const param = wanted.case === "metricId" ? "metric_id" : "metric";
    throw new DaybookError("resource_not_found", "There is no such metric.", { param });
  }
  return row;
}

function times({ first_occurred_at: first, last_occurred_at: last, last_received_at: received }: MetricRow) {
  return {
    firstOccurredAt: toTimestamp(first),
    lastOccurredAt: toTimestamp(last),
    lastReceivedAt: toTimestamp(received),
  };
}
