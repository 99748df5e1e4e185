import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { RebuildRollupsResponseSchema, type MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { serviceUnavailable } from "#shared/values/errors.ts";
import { decodeId, type Uuid } from "#shared/values/ids.ts";
import type { MetricContext } from "../context.ts";
import { beginRebuild, findPropertyIds } from "../sql/properties.ts";

// No event that was counted already was received later than that, however the clocks of the machines differ.
const clockDifferenceMaxSeconds = 2;
// Whoever counts must know of the building before then; else it is begun once more. Somebody may hold the property for a moment.
const beginMsMax = 1_000;
const attemptsMax = 10;

/** @param wake has the building begin at once. */
export function rebuildRollups(
  { database }: MetricContext,
  wake: () => void,
): ServiceImpl<typeof MetricService>["rebuildRollups"] {
  return async ({ propertyId }) => {
    const property = propertyId === undefined ? null : decodeId("prop", propertyId, "property_id");
    const wanted = await findPropertyIds(database, [property]);
    // One after the other, so that none waits for who holds another.
    for (const { property_id: id } of wanted) await begin(id);
    wake();
    return create(RebuildRollupsResponseSchema, { properties: wanted.length });
  };

  async function begin(property: Uuid): Promise<void> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const startMs = performance.now();
      await beginRebuild(database, [property, clockDifferenceMaxSeconds]);
      if (performance.now() - startMs < beginMsMax) return;
    }
    throw serviceUnavailable(new Error("a property is held all the time"));
  }
}
