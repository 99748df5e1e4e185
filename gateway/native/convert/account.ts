import { Mode, type Key, type Property } from "#proto/daybook/identity/v1/identity_pb.ts";
import { formatTimestamp } from "#shared/values/time.ts";
import type { RateLimits } from "../../rate/limits.ts";

/** A key and its property as JSON text. @param limits the limits in force. */
export function accountJson(property: Property, key: Key, limits: RateLimits): string {
  const time = (value: Key["createdAt"]): string | null => (value ? formatTimestamp(value) : null);
  const livemode = property.mode === Mode.LIVE;
  return JSON.stringify({
    object: "account",
    property: {
      id: property.id,
      object: "property",
      name: property.name,
      mode: livemode ? "live" : "test",
      livemode,
      default_currency: property.defaultCurrency,
      timezone: property.timezone,
      created_at: time(property.createdAt),
    },
    key: {
      id: key.id,
      object: "key",
      name: key.name,
      display_prefix: key.displayPrefix,
      scopes: key.scopes,
      revision: key.revision,
      created_at: time(key.createdAt),
      expires_at: time(key.expiresAt),
      last_used_at: time(key.lastUsedAt),
      rate_limits: { ordinary: limits.ordinary, backfill: limits.backfill },
    },
  });
}
