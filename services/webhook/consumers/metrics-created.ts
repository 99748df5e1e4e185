import { fromBinary } from "@bufbuild/protobuf";
import { MetricsCreatedSchema } from "#proto/daybook/metric/v1/metric_pb.ts";
import type { BusHandler } from "#shared/bus/bus.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { WebhookContext } from "../context.ts";
import { fanOut } from "../fan-out.ts";
import { ofMetric } from "../happenings.ts";

/** Makes messages of metrics that came to be. */
export function metricsCreated(context: WebhookContext): BusHandler {
  return async (payloads) => {
    const now = context.clock.nowMicros();
    const happenings = payloads.flatMap(({ payload }) => {
      const { propertyId, metrics } = fromBinary(MetricsCreatedSchema, payload);
      const property = decodeId("prop", propertyId, "property_id");
      return metrics.map((metric) => ofMetric(property, metric, now));
    });
    await fanOut(context, happenings);
  };
}
