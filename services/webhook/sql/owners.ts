/** Endpoints that end with a key or an installation. */
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";

/** An endpoint with its owner. */
export interface OwnedRow {
  property_id: Uuid;
  id: Uuid;
  owner_id: Uuid;
  owner_kind: "key" | "inst";
  types: string[];
}

/** A page of enabled endpoints of all properties that have an owner, except those of apps: see apps.ts. */
export const pageOwned = statement<[afterProperty: Uuid, after: Uuid, rowsMax: number], OwnedRow>(
  "webhook.owners.page",
  `SELECT property_id, id, owner_id, owner_kind, types FROM webhook.endpoints
   WHERE owner_id IS NOT NULL AND app_id IS NULL AND status = 'enabled' AND (property_id, id) > ($1, $2)
   ORDER BY property_id, id LIMIT $3`,
);
