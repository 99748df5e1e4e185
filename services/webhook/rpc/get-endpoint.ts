import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetEndpointResponseSchema, type WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { WebhookContext } from "../context.ts";
import { toEndpoint } from "../mapping.ts";
import { findEndpoint, sightOf } from "../viewer.ts";

export function getEndpoint({ reads }: WebhookContext): ServiceImpl<typeof WebhookService>["getEndpoint"] {
  return async ({ propertyId, endpointId, viewer }, { signal }) => {
    const property = decodeId("prop", propertyId, "property_id");
    const row = await findEndpoint(reads.of(property, signal), property, endpointId, sightOf(viewer));
    return create(GetEndpointResponseSchema, { endpoint: toEndpoint(row) });
  };
}
