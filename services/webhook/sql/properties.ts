/** Properties that have or had endpoints. */
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";

/** Adds a property. */
export const addProperty = statement<[property: Uuid, livemode: boolean]>(
  "webhook.properties.add",
  `INSERT INTO webhook.properties (property_id, livemode) VALUES ($1, $2) ON CONFLICT (property_id) DO NOTHING`,
);

/** Reads whether a property is live. No row for one that never had an endpoint. */
export const readProperty = statement<[property: Uuid], { livemode: boolean }>(
  "webhook.properties.read",
  `SELECT livemode FROM webhook.properties WHERE property_id = $1`,
);

/** Keeps others from making endpoints of the property until the end of the transaction. */
export const lockProperty = statement<[property: Uuid], { property_id: Uuid }>(
  "webhook.properties.lock",
  `SELECT property_id FROM webhook.properties WHERE property_id = $1 FOR UPDATE`,
);

/** A page of all properties. */
export const pageProperties = statement<[after: Uuid, rowsMax: number], { property_id: Uuid }>(
  "webhook.properties.page",
  `SELECT property_id FROM webhook.properties WHERE property_id > $1 ORDER BY property_id LIMIT $2`,
);

/** Those of some properties that have or had endpoints. */
export const findProperties = statement<[properties: readonly Uuid[]], { property_id: Uuid }>(
  "webhook.properties.find",
  `SELECT property_id FROM webhook.properties WHERE property_id = ANY($1::uuid[])`,
);
