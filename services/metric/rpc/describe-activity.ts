import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { DescribeActivityResponseSchema, type MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import type { Queryable } from "#shared/database/postgres.ts";
import { createAggregateShare } from "#shared/database/reads.ts";
import { onwardReadOptions } from "#shared/rpc/interceptors.ts";
import { decodeId, type Uuid } from "#shared/values/ids.ts";
import { formatMicros, toTimestamp } from "#shared/values/time.ts";
import type { MetricContext } from "../context.ts";
import { lastDays, type Days } from "../domain/days.ts";
import { addDecimals, formatDecimal, parseDecimal, zero } from "../domain/decimal.ts";
import { createdMetric } from "../domain/system-metrics.ts";
import { sumActivity, type ActivityRow } from "../sql/activity.ts";
import { readProperties } from "../sql/properties.ts";
import { readAsOf } from "../watermark.ts";

const rollupsMax = 500_000;
// Tried in turn after the days that were asked for, where there are too many roll-ups.
const fewerDays = [7, 1];

export function describeActivity(context: MetricContext): ServiceImpl<typeof MetricService>["describeActivity"] {
  const share = createAggregateShare(context.reads);
  return (request, handlerContext) => {
    const { propertyId, withoutSystem } = request;
    const property = decodeId("prop", propertyId, "property_id");
    const asked = lastDays(request, context.clock.nowMicros());
    const { signal } = handlerContext;
    return share.run(
      property,
      async () => {
        const reader = context.reads.of(property, signal);
        // Read before the data, so that every event up to as_of is in the answer.
        const { counted } = await readAsOf(context.events, reader, propertyId, onwardReadOptions(handlerContext));
        const { rows, starts } = await reader.inSnapshot((snapshot) => readDays(snapshot, property, asked));
        const length = starts.length;
        const wanted = rows.filter(({ is_system: isSystem }) => !(withoutSystem && isSystem));
        return create(DescribeActivityResponseSchema, {
          dayStarts: starts.map((at) => toTimestamp(at)),
          events: countsOf(wanted, length),
          values: valuesOf(wanted, length),
          newProfiles: countsOf(
            rows.filter(({ is_created: isCreated }) => isCreated),
            length,
          ),
          asOf: toTimestamp(counted),
        });
      },
      signal,
    );
  };
}

/** Reads as many of the days, counted from today, as have not too many roll-ups. */
async function readDays(
  snapshot: Queryable,
  property: Uuid,
  { starts, to }: Days,
): Promise<{ rows: ActivityRow[]; starts: Days["starts"] }> {
  const [state] = await readProperties(snapshot, [[property]]);
  if (!state) return { rows: [], starts };
  for (const days of [starts.length, ...fewerDays.filter((count) => count < starts.length)]) {
    const some = starts.slice(-days);
    const rows = await sumActivity(snapshot, [
      property,
      state.generation,
      formatMicros(some[0] as number),
      formatMicros(to),
      some.map(formatMicros),
      createdMetric,
      rollupsMax + 1,
    ]);
    if (rows.reduce((sum, { rollups }) => sum + rollups, 0) <= rollupsMax) return { rows, starts: some };
  }
  return { rows: [], starts: [] };
}

function countsOf(rows: readonly ActivityRow[], length: number): bigint[] {
  const counts = Array.from({ length }, () => 0n);
  for (const { day, events } of rows) counts[day] = (counts[day] ?? 0n) + BigInt(events);
  return counts;
}

function valuesOf(rows: readonly ActivityRow[], length: number): { currency: string; sums: string[] }[] {
  const byCurrency = Map.groupBy(
    rows.filter(({ currency }) => currency !== ""),
    ({ currency }) => currency,
  );
  return [...byCurrency]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([currency, some]) => {
      const sums = Array.from({ length }, () => zero);
      for (const { day, value } of some) sums[day] = addDecimals(sums[day] ?? zero, parseDecimal(value));
      return { currency, sums: sums.map(formatDecimal) };
    });
}
