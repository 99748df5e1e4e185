import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { DeleteEndpointResponseSchema, type WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { settle, DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { WebhookContext } from "../context.ts";
import { deleteWithDeliveries } from "../disabling.ts";
import { findEndpoint, sightOf } from "../viewer.ts";

export function deleteEndpoint(context: WebhookContext): ServiceImpl<typeof WebhookService>["deleteEndpoint"] {
  return async ({ propertyId, endpointId, viewer }) => {
    const property = decodeId("prop", propertyId, "property_id");
    const row = await settle(findEndpoint(context.database, property, endpointId, sightOf(viewer)));
    if (row instanceof DaybookError && row.code !== "resource_not_found") throw row;
    if (!(row instanceof DaybookError)) {
      if (row.app_id !== null) {
        const message = "The endpoint is an app's. It ends when the app is uninstalled.";
        throw new DaybookError("invalid_state_transition", message, { param: "endpoint_id" });
      }
      await deleteWithDeliveries(context, property, row.id);
    }
    return create(DeleteEndpointResponseSchema, {});
  };
}
