/** Tells that metrics came to be, in the transaction that makes them. */
import { create, toBinary } from "@bufbuild/protobuf";
import { MetricSchema, MetricsCreatedSchema, type Metric } from "#proto/daybook/metric/v1/metric_pb.ts";
import type { Transaction } from "#shared/database/postgres.ts";
import type { OutboxRelay } from "#shared/outbox/outbox.ts";
import { encodeId, type Uuid } from "#shared/values/ids.ts";
import { toMetric } from "./mapping.ts";
import { readMetrics, type MetricRow } from "./sql/metrics.ts";

const createdSubject = "daybook.metric.created";
// The bus takes messages of up to 1 MB.
const messageBytesMax = 900 * 1024;

/**
 * Tells of metrics that were registered. Consumers do not wake the relay for the few that are new: its next look finds
 * their messages.
 */
export async function tellOfNew(
  tx: Transaction,
  relay: OutboxRelay,
  property: Uuid,
  registered: readonly { name: string }[],
): Promise<void> {
  if (registered.length === 0) return;
  await tell(tx, relay, property, await readMetrics(tx, [property, [], registered.map(({ name }) => name)]));
}

export async function tell(
  tx: Transaction,
  relay: OutboxRelay,
  property: Uuid,
  rows: readonly MetricRow[],
): Promise<void> {
  const propertyId = encodeId("prop", property);
  for (const metrics of pack(rows.map(toMetric))) {
    const message = create(MetricsCreatedSchema, { propertyId, metrics });
    await relay.enqueue(tx, property, createdSubject, toBinary(MetricsCreatedSchema, message));
  }
}

/** Packs metrics into as few messages as their size allows. */
function pack(metrics: readonly Metric[]): Metric[][] {
  const groups: Metric[][] = [];
  let bytes = messageBytesMax;
  for (const metric of metrics) {
    const size = toBinary(MetricSchema, metric).length;
    if (bytes + size > messageBytesMax) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)?.push(metric);
    bytes += size;
  }
  return groups;
}
