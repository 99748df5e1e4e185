import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  DeliveryStatus,
  ListDeliveriesResponseSchema,
  type WebhookService,
} from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { checkLimit, pageOf } from "#shared/values/page.ts";
import { formatMicros, toRange } from "#shared/values/time.ts";
import type { WebhookContext } from "../context.ts";
import { statusOfName, toDelivery } from "../mapping.ts";
import { findPlace, listDeliveries as list, type DeliveryStatusName } from "../sql/delivery-reads.ts";
import { listSeen, sightOf } from "../viewer.ts";

const limitMax = 500;

export function listDeliveries({ reads }: WebhookContext): ServiceImpl<typeof WebhookService>["listDeliveries"] {
  return async (request, { signal }) => {
    const { propertyId, viewer, endpointId, status, type, createdAt, limit, afterDeliveryId } = request;
    checkLimit(limit, limitMax, "deliveries");
    const property = decodeId("prop", propertyId, "property_id");
    const sight = sightOf(viewer);
    const reader = reads.of(property, signal);
    const wanted = endpointId === undefined ? undefined : decodeId("hook", endpointId, "endpoint_id");
    const seen = await listSeen(reader, property, sight);
    const endpoints = wanted === undefined ? seen : seen.filter((id) => id === wanted);
    const after = afterDeliveryId === undefined ? undefined : decodeId("dlv", afterDeliveryId, "after_delivery_id");
    const [place] = after === undefined ? [] : await findPlace(reader, [property, after]);
    if (after !== undefined && !place) {
      const message = "The list cannot go on, because its last delivery is gone. Begin again.";
      throw new DaybookError("invalid_cursor", message, { param: "after_delivery_id" });
    }
    const { rows, hasMore } = await pageOf(limit, (most) =>
      list(reader, {
        property,
        endpoints,
        status: nameOf(status),
        type,
        types: sight.types ?? undefined,
        createdAt: toRange(createdAt),
        after: after && place && { time: formatMicros(place.created_at), id: after },
        limit: most,
      }),
    );
    return create(ListDeliveriesResponseSchema, { deliveries: rows.map(toDelivery), hasMore });
  };
}

function nameOf(status: DeliveryStatus): DeliveryStatusName | undefined {
  const names = Object.keys(statusOfName) as DeliveryStatusName[];
  return names.find((name) => statusOfName[name] === status);
}
