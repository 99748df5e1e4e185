/** Maps rows to messages. */
import { create } from "@bufbuild/protobuf";
import { KeySchema, Mode, PropertySchema, type Key, type Property } from "#proto/daybook/identity/v1/identity_pb.ts";
import { encodeId } from "#shared/values/ids.ts";
import { toTimestamp } from "#shared/values/time.ts";
import type { ModeName } from "#shared/values/key-form.ts";
import type { KeyRow } from "./sql/keys.ts";
import type { JoinedProperty, PropertyRow } from "./sql/properties.ts";

/** The modes by their names in SQL. */
export const modeOfName: Record<ModeName, Mode> = { live: Mode.LIVE, test: Mode.TEST };

export function toProperty(row: PropertyRow): Property {
  return create(PropertySchema, {
    id: encodeId("prop", row.id),
    name: row.name,
    mode: modeOfName[row.mode],
    createdAt: toTimestamp(row.created_at),
    defaultCurrency: row.default_currency,
    timezone: row.timezone,
  });
}

export function toKey(row: KeyRow): Key {
  return create(KeySchema, {
    id: encodeId("key", row.id),
    propertyId: encodeId("prop", row.property_id),
    name: row.name,
    displayPrefix: row.display_prefix,
    scopes: row.scopes,
    revision: row.revision,
    createdAt: toTimestamp(row.created_at),
    expiresAt: toTimestamp(row.expires_at),
    revokedAt: toTimestamp(row.revoked_at),
    rateLimits: {
      ordinary: row.rate_limit_ordinary ?? undefined,
      backfill: row.rate_limit_backfill ?? undefined,
    },
    lastUsedAt: toTimestamp(row.last_used_at),
  });
}

/** The property that is joined to a key or a token. */
export function toJoinedProperty(row: JoinedProperty): Property {
  const { property_id: id, property_name: name, property_created_at: createdAt } = row;
  return toProperty({ ...row, id, name, created_at: createdAt });
}

/** The name of a mode; undefined if it is invalid. */
export function toModeName(mode: Mode): ModeName | undefined {
  return mode === Mode.LIVE ? "live" : mode === Mode.TEST ? "test" : undefined;
}
