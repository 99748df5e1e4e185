/** Maps rows to messages. */
import { create } from "@bufbuild/protobuf";
import { MetricSchema, ObservedPathSchema, ValueType, type Metric } from "#proto/daybook/metric/v1/metric_pb.ts";
import { encodeId } from "#shared/values/ids.ts";
import type { ValueTypeName } from "#shared/values/observed-schema.ts";
import { toTimestamp } from "#shared/values/time.ts";
import type { MetricRow } from "./sql/metrics.ts";

const valueTypeOfName: Record<ValueTypeName, ValueType> = {
  string: ValueType.STRING,
  number: ValueType.NUMBER,
  boolean: ValueType.BOOLEAN,
  timestamp: ValueType.TIMESTAMP,
  array: ValueType.ARRAY,
  object: ValueType.OBJECT,
  mixed: ValueType.MIXED,
};

export function toMetric(row: MetricRow): Metric {
  return create(MetricSchema, {
    id: encodeId("mtr", row.id),
    name: row.name,
    source: row.source ?? undefined,
    system: row.system,
    description: row.description ?? undefined,
    firstSeenAt: toTimestamp(row.first_seen_at),
    schema: Object.entries(row.schema)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, type]) => create(ObservedPathSchema, { path, type: valueTypeOfName[type] })),
    eventCount: BigInt(row.event_count),
    originalName: row.original_name ?? undefined,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
    lastReceivedAt: toTimestamp(row.last_received_at),
  });
}
