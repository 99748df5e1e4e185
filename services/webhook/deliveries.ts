/** Deliveries on behalf of callers. */
import type { Queryable } from "#shared/database/postgres.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, type Uuid } from "#shared/values/ids.ts";
import { readDelivery } from "./sql/delivery-reads.ts";
import { readEndpoint } from "./sql/endpoints.ts";
import { isSeen, type Sight } from "./viewer.ts";

/**
 * Reads a delivery to an endpoint that a viewer may see, of a type that it may read: the endpoint may have had other
 * types before. @throws DaybookError `resource_not_found` */
export async function findDelivery(database: Queryable, property: Uuid, deliveryId: string, sight: Sight) {
  const [row] = await readDelivery(database, [property, decodeId("dlv", deliveryId, "delivery_id")]);
  const [endpoint] = row ? await readEndpoint(database, [property, row.endpoint_id]) : [];
  const isRead = sight.types === null || (row !== undefined && sight.types.includes(row.type));
  if (!row || !endpoint || !isRead || !isSeen(endpoint, sight)) {
    throw new DaybookError("resource_not_found", "There is no such delivery.", { param: "delivery_id" });
  }
  return { ...row, endpoint };
}
