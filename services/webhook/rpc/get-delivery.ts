import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetDeliveryResponseSchema, type WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { WebhookContext } from "../context.ts";
import { findDelivery } from "../deliveries.ts";
import { toWholeDelivery } from "../mapping.ts";
import { sightOf } from "../viewer.ts";

export function getDelivery({ reads }: WebhookContext): ServiceImpl<typeof WebhookService>["getDelivery"] {
  return async ({ propertyId, deliveryId, viewer }, { signal }) => {
    const property = decodeId("prop", propertyId, "property_id");
    const row = await findDelivery(reads.of(property, signal), property, deliveryId, sightOf(viewer));
    return create(GetDeliveryResponseSchema, { delivery: toWholeDelivery(row) });
  };
}
