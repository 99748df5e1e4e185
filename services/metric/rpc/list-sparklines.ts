import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListSparklinesResponseSchema, type MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { createAggregateShare } from "#shared/database/reads.ts";
import { onwardReadOptions } from "#shared/rpc/interceptors.ts";
import { count } from "#shared/values/count.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, encodeId } from "#shared/values/ids.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import { formatMicros, toTimestamp } from "#shared/values/time.ts";
import type { MetricContext } from "../context.ts";
import { lastDays } from "../domain/days.ts";
import { countByDay } from "../sql/activity.ts";
import { readMetrics } from "../sql/metrics.ts";
import { readProperties } from "../sql/properties.ts";
import { readAsOf } from "../watermark.ts";

const metricsMax = 100;
const rollupsMax = 1_000_000;

export function listSparklines(context: MetricContext): ServiceImpl<typeof MetricService>["listSparklines"] {
  const share = createAggregateShare(context.reads);
  return (request, handlerContext) => {
    const { propertyId, metricIds } = request;
    const property = decodeId("prop", propertyId, "property_id");
    checkItemCount(metricIds.length, metricsMax, "metric_ids");
    const ids = [...new Set(metricIds.map((id) => decodeId("mtr", id, "metric_ids")))];
    const { starts, to } = lastDays(request, context.clock.nowMicros());
    const { signal } = handlerContext;
    return share.run(
      property,
      async () => {
        const reader = context.reads.of(property, signal);
        // Read before the data, so that every event up to as_of is in the answer.
        const { counted } = await readAsOf(context.events, reader, propertyId, onwardReadOptions(handlerContext));
        const { known, rows } = await reader.inSnapshot(async (snapshot) => {
          const [state] = await readProperties(snapshot, [[property]]);
          const generation = state?.generation ?? 0;
          const from = formatMicros(starts[0] as number);
          const days = starts.map(formatMicros);
          return {
            known: new Set((await readMetrics(snapshot, [property, ids, []])).map(({ id }) => id)),
            rows: await countByDay(snapshot, [property, ids, generation, from, formatMicros(to), days, rollupsMax + 1]),
          };
        });
        if (rows.reduce((sum, { rollups }) => sum + rollups, 0) > rollupsMax) {
          const message = `These metrics have more than ${count(rollupsMax)} roll-ups in these days. Ask for fewer.`;
          throw new DaybookError("too_many_items", message, { param: "metric_ids" });
        }
        const countOf = new Map(rows.map(({ metric_id: id, day, events }) => [`${id} ${day}`, BigInt(events)]));
        return create(ListSparklinesResponseSchema, {
          dayStarts: starts.map((at) => toTimestamp(at)),
          sparklines: ids
            .filter((id) => known.has(id))
            .map((id) => ({
              metricId: encodeId("mtr", id),
              counts: starts.map((_, day) => countOf.get(`${id} ${day}`) ?? 0n),
            })),
          asOf: toTimestamp(counted),
        });
      },
      signal,
    );
  };
}
