import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { RetryDeliveryResponseSchema, type WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { WebhookContext } from "../context.ts";
import { findDelivery } from "../deliveries.ts";
import { toDelivery } from "../mapping.ts";
import { retryDelivery as retry } from "../sql/delivery-reads.ts";
import { sightOf } from "../viewer.ts";

export function retryDelivery(context: WebhookContext): ServiceImpl<typeof WebhookService>["retryDelivery"] {
  const { database, clock } = context;
  return async ({ propertyId, deliveryId, viewer }) => {
    const property = decodeId("prop", propertyId, "property_id");
    const sight = sightOf(viewer);
    const before = await findDelivery(database, property, deliveryId, sight);
    const retried = await retry(database, [property, before.id, formatMicros(clock.nowMicros())]);
    if (retried.length === 0) {
      const isDisabled = before.endpoint.status === "disabled";
      const message = isDisabled ? "The endpoint is disabled." : "The message is not kept any more.";
      throw new DaybookError("invalid_state_transition", message, { param: "delivery_id" });
    }
    context.deliveriesDue(property, new Set([before.endpoint_id]));
    const row = await findDelivery(database, property, deliveryId, sight);
    return create(RetryDeliveryResponseSchema, { delivery: toDelivery(row) });
  };
}
