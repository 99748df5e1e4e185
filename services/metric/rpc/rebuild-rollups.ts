import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { RebuildRollupsResponseSchema, type MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { serviceUnavailable } from "#shared/values/errors.ts";
import { decodeId, type Uuid } from "#shared/values/ids.ts";
import type { MetricContext } from "../context.ts";
import { beginRebuild, findPropertyIds } from "../sql/properties.ts";

// Upper bound of the clock skew: no counted event was received later than now plus this.
const clockDifferenceMaxSeconds = 2;
// Consumers must see the rebuild within the skew. A begin that waited longer for the row lock is retried. Its instant
// is from before the wait.
const beginSecondsMax = 1;
const attemptsMax = 10;

/** @param wake starts the rebuild at once. */
export function rebuildRollups(
  { database }: MetricContext,
  wake: () => void,
): ServiceImpl<typeof MetricService>["rebuildRollups"] {
  return async ({ propertyId }) => {
    const property = propertyId === undefined ? null : decodeId("prop", propertyId, "property_id");
    const wanted = await findPropertyIds(database, [property]);
    // One at a time, so that no property waits for the lock of another.
    for (const { property_id: id } of wanted) await begin(id);
    wake();
    return create(RebuildRollupsResponseSchema, { properties: wanted.length });
  };

  async function begin(property: Uuid): Promise<void> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const startMs = performance.now();
      await beginRebuild(database, [property, clockDifferenceMaxSeconds + beginSecondsMax]);
      if (performance.now() - startMs < beginSecondsMax * 1_000) return;
    }
    throw serviceUnavailable(new Error("a property is held all the time"));
  }
}
