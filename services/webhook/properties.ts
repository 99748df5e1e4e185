/** What is known of the properties that have endpoints. */
import type { Client } from "@connectrpc/connect";
import { Mode, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import type { Database } from "#shared/database/postgres.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { encodeId, nilUuid, toUuid, type Uuid } from "#shared/values/ids.ts";
import { addProperty, findProperties, readProperty } from "./sql/properties.ts";

/**
 * Notes a property that is about to have an endpoint, so that what happens in it is looked at. Whether it is live never
 * changes.
 * @throws DaybookError `resource_not_found` without such a property.
 */
export async function noteProperty(
  { database, identity }: { database: Database; identity: Client<typeof IdentityService> },
  property: Uuid,
): Promise<void> {
  const [known] = await readProperty(database, [property]);
  if (known) return;
  const propertyId = encodeId("prop", property);
  // The list goes on after an id, and the first after the one before is the property, if there is one.
  const before = property === nilUuid ? {} : { afterPropertyId: encodeId("prop", uuidBefore(property)) };
  const { properties } = await identity.listProperties({ limit: 1, ...before }, systemCall("webhook"));
  const [found] = properties;
  if (found?.id !== propertyId) {
    throw new DaybookError("resource_not_found", "There is no such property.", { param: "property_id" });
  }
  await addProperty(database, [property, found.mode === Mode.LIVE]);
}

/** Those of some properties that have or had endpoints. */
export async function knownProperties(database: Database, properties: Iterable<Uuid>): Promise<ReadonlySet<Uuid>> {
  const rows = await findProperties(database, [[...new Set(properties)]]);
  return new Set(rows.map(({ property_id: id }) => id));
}

/** The highest UUID below one that is not the lowest. */
function uuidBefore(uuid: Uuid): Uuid {
  const hex = (BigInt(`0x${uuid.replaceAll("-", "")}`) - 1n).toString(16).padStart(32, "0");
  return toUuid(hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"));
}
