import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { DescribeRollupsResponseSchema, type MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { MetricContext } from "../context.ts";
import { describeBuilding } from "../sql/properties.ts";

export function describeRollups({ database }: MetricContext): ServiceImpl<typeof MetricService>["describeRollups"] {
  return async ({ propertyId }) => {
    const property = propertyId === undefined ? null : decodeId("prop", propertyId, "property_id");
    const [described] = await describeBuilding(database, [property]);
    if (!described) throw new Error("a count has a row");
    return create(DescribeRollupsResponseSchema, {
      propertiesBuilding: described.properties,
      eventsCounted: BigInt(described.events),
    });
  };
}
