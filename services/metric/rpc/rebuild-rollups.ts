import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { RebuildRollupsResponseSchema, type MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { decodeId } from "#shared/ids.ts";
import { formatMicros } from "#shared/time.ts";
import type { MetricContext } from "../context.ts";
import { beginBuilding } from "../sql/properties.ts";

// No event that was counted already was received later than that, however the clocks of the machines differ.
const clockDifferenceMaxMicros = 2_000_000;

/** @param wake has the building begin at once. */
export function rebuildRollups(
  { database, clock }: MetricContext,
  wake: () => void,
): ServiceImpl<typeof MetricService>["rebuildRollups"] {
  return async ({ propertyId }) => {
    const property = propertyId === undefined ? null : decodeId("prop", propertyId, "property_id");
    const upTo = formatMicros(clock.nowMicros() + clockDifferenceMaxMicros);
    const begun = await beginBuilding(database, [property, upTo]);
    wake();
    return create(RebuildRollupsResponseSchema, { properties: begun.length });
  };
}
