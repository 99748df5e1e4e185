import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { RotateEndpointSecretResponseSchema, type WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { WebhookContext } from "../context.ts";
import { readGrace } from "../domain/grace.ts";
import { newSecret } from "../domain/signing.ts";
import { toEndpoint } from "../mapping.ts";
import { openSecret, sealSecret } from "../secrets.ts";
import { rotateSecret } from "../sql/endpoints.ts";
import { findAndLock, sightOf } from "../viewer.ts";

export function rotateEndpointSecret(
  context: WebhookContext,
): ServiceImpl<typeof WebhookService>["rotateEndpointSecret"] {
  const { database, clock, sealing } = context;
  return async ({ propertyId, endpointId, viewer, graceSeconds, operationId }) => {
    const property = decodeId("prop", propertyId, "property_id");
    const now = clock.nowMicros();
    const previousUntil = readGrace(graceSeconds, now);
    const operation = operationId === undefined ? null : decodeId("op", operationId, "operation_id");
    let secret = newSecret();
    const row = await withTransaction(database, async (tx) => {
      const found = await findAndLock(tx, property, endpointId, sightOf(viewer));
      if (found.secret === null) {
        const message = "The secret of the endpoint is the app's, and is rotated there.";
        throw new DaybookError("invalid_state_transition", message, { param: "endpoint_id" });
      }
      if (operation !== null && found.rotation_id === operation) {
        secret = openSecret(sealing, found.id, found.secret);
        return found;
      }
      await rotateSecret(tx, [
        property,
        found.id,
        sealSecret(sealing, found.id, secret),
        previousUntil === null ? null : formatMicros(previousUntil),
        formatMicros(now),
        operation,
      ]);
      return { ...found, previous_secret_until: previousUntil, updated_at: now };
    });
    context.endpointChanged(row.id);
    return create(RotateEndpointSecretResponseSchema, { endpoint: toEndpoint(row), secret });
  };
}
