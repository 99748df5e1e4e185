import { statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { ModeName } from "#shared/values/key-form.ts";

/** A row of identity.properties. */
export interface PropertyRow {
  id: string;
  name: string;
  mode: ModeName;
  created_at: Micros;
  default_currency: string;
  timezone: string;
}

const columns = "id, name, mode, created_at, default_currency, timezone";

/** $1 id, $2 name, $3 mode, $4 created_at, $5 default_currency and $6 timezone, null for those of every property */
export const insertProperty = statement<PropertyRow>(
  "identity.properties.insert",
  `INSERT INTO identity.properties (id, name, mode, created_at, default_currency, timezone)
   VALUES ($1, $2, $3, $4, coalesce($5, 'USD'), coalesce($6, 'UTC'))
   RETURNING ${columns}`,
);

/** $1 id, $2 name, $3 default_currency, $4 timezone; null leaves what is there */
export const updateProperty = statement<PropertyRow>(
  "identity.properties.update",
  `UPDATE identity.properties
   SET name = coalesce($2, name), default_currency = coalesce($3, default_currency), timezone = coalesce($4, timezone)
   WHERE id = $1
   RETURNING ${columns}`,
);

/** $1 id */
export const findProperty = statement<PropertyRow>(
  "identity.properties.find",
  `SELECT ${columns} FROM identity.properties WHERE id = $1`,
);

/** $1 id after which, or null; $2 how many */
export const listProperties = statement<PropertyRow>(
  "identity.properties.list",
  `SELECT ${columns} FROM identity.properties WHERE ($1::uuid IS NULL OR id > $1) ORDER BY id LIMIT $2`,
);

/** One row if there is any property. */
export const findAnyProperty = statement<{ id: string }>(
  "identity.properties.any",
  `SELECT id FROM identity.properties LIMIT 1`,
);

/** Lets one process at a time decide whether the demo properties are to be made. Held to the end of the transaction. */
export const lockBootstrap = statement(
  "identity.bootstrap.lock",
  `SELECT pg_advisory_xact_lock(hashtext('daybook bootstrap'))`,
);
