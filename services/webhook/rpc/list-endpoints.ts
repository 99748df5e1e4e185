import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  EndpointStatus,
  ListEndpointsResponseSchema,
  type WebhookService,
} from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { decodeId, nilUuid } from "#shared/values/ids.ts";
import { checkLimit, pageOf } from "#shared/values/page.ts";
import type { WebhookContext } from "../context.ts";
import { toEndpoint } from "../mapping.ts";
import { listEndpoints as list } from "../sql/endpoints.ts";
import { sightOf } from "../viewer.ts";

const limitMax = 500;
const statusNames: ReadonlyMap<EndpointStatus, "enabled" | "disabled"> = new Map([
  [EndpointStatus.ENABLED, "enabled"],
  [EndpointStatus.DISABLED, "disabled"],
]);

export function listEndpoints({ reads }: WebhookContext): ServiceImpl<typeof WebhookService>["listEndpoints"] {
  return async ({ propertyId, viewer, limit, afterEndpointId, status }, { signal }) => {
    checkLimit(limit, limitMax, "endpoints");
    const property = decodeId("prop", propertyId, "property_id");
    const after = afterEndpointId === undefined ? nilUuid : decodeId("hook", afterEndpointId, "after_endpoint_id");
    const { types, installation } = sightOf(viewer);
    const reader = reads.of(property, signal);
    const { rows, hasMore } = await pageOf(limit, (most) =>
      list(reader, [property, types, installation, statusNames.get(status) ?? null, after, most]),
    );
    return create(ListEndpointsResponseSchema, { endpoints: rows.map(toEndpoint), hasMore });
  };
}
