import type { ValueTypeName } from "#shared/values/observed-schema.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";

export interface AttributeSchemaRow {
  schema: Record<string, ValueTypeName>;
}

export const readSchema = statement<[property: Uuid], AttributeSchemaRow>(
  "profile.attribute_schemas.read",
  `SELECT schema FROM profile.attribute_schemas WHERE property_id = $1`,
);

/** Reads a schema, creates an empty one if it is missing, and locks it until the end of the transaction. */
export const lockSchema = statement<[property: Uuid], AttributeSchemaRow>(
  "profile.attribute_schemas.lock",
  `INSERT INTO profile.attribute_schemas (property_id) VALUES ($1)
   ON CONFLICT (property_id) DO UPDATE SET property_id = excluded.property_id
   RETURNING schema`,
);

export const writeSchema = statement<[property: Uuid, schema: string]>(
  "profile.attribute_schemas.write",
  `UPDATE profile.attribute_schemas SET schema = $2 WHERE property_id = $1`,
);

/** Attributes of a property's profiles, newest first. */
export const readNewestAttributes = statement<
  [property: Uuid, before: Uuid, limit: number],
  { id: Uuid; attributes: string }
>(
  "profile.attribute_schemas.read_newest_attributes",
  `SELECT id, attributes FROM profile.profiles WHERE property_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
);
