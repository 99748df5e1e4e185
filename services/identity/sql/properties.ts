import { statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { ModeName } from "#shared/values/key-form.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

/** A row of identity.properties. */
export interface PropertyRow {
  id: Uuid;
  name: string;
  mode: ModeName;
  created_at: Micros;
  default_currency: string;
  timezone: string;
}

/** A property that is joined to a key or a token. */
export interface JoinedProperty {
  property_id: Uuid;
  property_name: string;
  mode: ModeName;
  property_created_at: Micros;
  default_currency: string;
  timezone: string;
}

/** The columns of JoinedProperty that are of the property `p` alone. */
export const propertyColumns =
  "p.name AS property_name, p.mode, p.created_at AS property_created_at, p.default_currency, p.timezone";

const columns = "id, name, mode, created_at, default_currency, timezone";

/** A null currency or time zone means the default of all properties. */
export const insertProperty = statement<
  [id: Uuid, name: string, mode: ModeName, createdAt: Instant, defaultCurrency: string | null, timezone: string | null],
  PropertyRow
>(
  "identity.properties.insert",
  `INSERT INTO identity.properties (id, name, mode, created_at, default_currency, timezone)
   VALUES ($1, $2, $3, $4, coalesce($5, 'USD'), coalesce($6, 'UTC'))
   RETURNING ${columns}`,
);

/** Null keeps the stored value. */
export const updateProperty = statement<
  [id: Uuid, name: string | null, defaultCurrency: string | null, timezone: string | null],
  PropertyRow
>(
  "identity.properties.update",
  `UPDATE identity.properties
   SET name = coalesce($2, name), default_currency = coalesce($3, default_currency), timezone = coalesce($4, timezone)
   WHERE id = $1
   RETURNING ${columns}`,
);

export const findProperty = statement<[id: Uuid], PropertyRow>(
  "identity.properties.find",
  `SELECT ${columns} FROM identity.properties WHERE id = $1`,
);

/** Which of some ids properties have. */
export const findProperties = statement<[ids: readonly Uuid[]], { id: Uuid }>(
  "identity.properties.find_some",
  `SELECT id FROM identity.properties WHERE id = ANY($1::uuid[])`,
);

export const listProperties = statement<[after: Uuid | null, limit: number], PropertyRow>(
  "identity.properties.list",
  `SELECT ${columns} FROM identity.properties WHERE ($1::uuid IS NULL OR id > $1) ORDER BY id LIMIT $2`,
);

/** Gives a row if there is any property. */
export const findAnyProperty = statement<[], { id: Uuid }>(
  "identity.properties.any",
  `SELECT id FROM identity.properties LIMIT 1`,
);

/** Serializes the creation of demo properties until the end of the transaction. */
export const lockBootstrap = statement<[]>(
  "identity.bootstrap.lock",
  `SELECT pg_advisory_xact_lock(hashtext('daybook bootstrap'))`,
);
