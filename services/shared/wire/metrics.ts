/** Metrics and observed schemas as native JSON. */
import { ValueType, type Metric } from "#proto/daybook/metric/v1/metric_pb.ts";
import { formatTimestamp } from "../values/time.ts";

const valueTypeNames: Record<ValueType, string> = {
  [ValueType.UNSPECIFIED]: "mixed",
  [ValueType.STRING]: "string",
  [ValueType.NUMBER]: "number",
  [ValueType.BOOLEAN]: "boolean",
  [ValueType.TIMESTAMP]: "timestamp",
  [ValueType.ARRAY]: "array",
  [ValueType.OBJECT]: "object",
  [ValueType.MIXED]: "mixed",
};

export function metricJson(metric: Metric): string {
  return JSON.stringify({ ...fieldsOf(metric), schema: schemaObject(metric) });
}

/** A metric that is too large to be sent whole. */
export function metricJsonWithoutSchema(metric: Metric): string {
  return JSON.stringify(fieldsOf(metric));
}

function fieldsOf(metric: Metric): object {
  return {
    id: metric.id,
    object: "metric",
    name: metric.name,
    source: metric.source ?? null,
    system: metric.system,
    description: metric.description ?? null,
    first_seen_at: metric.firstSeenAt ? formatTimestamp(metric.firstSeenAt) : null,
  };
}

/** The schema of the events of a metric, as JSON text. */
export function eventSchemaJson(metric: Metric): string {
  const { name: type, id } = metric;
  return JSON.stringify({ object: "schema", resource: "event", type, metric_id: id, schema: schemaObject(metric) });
}

function schemaObject({ schema }: Metric): object {
  return Object.fromEntries(schema.map(({ path, type }) => [path, valueTypeNames[type]]));
}
