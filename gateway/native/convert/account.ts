import { Mode, type Key, type Property } from "#proto/daybook/identity/v1/identity_pb.ts";
import type { Caller } from "../../callers.ts";
import type { Account } from "../../surface/account.ts";
import { installationFields } from "./apps.ts";
import { timeOrNull } from "#shared/wire/text.ts";

/** A property, and the key or installation that calls, as JSON text. @param calling whose limits and scopes hold. */
export function accountJson({ property, caller }: Account, { limits, scopes }: Caller): string {
  const rateLimits = { rate_limits: { ordinary: limits.ordinary, backfill: limits.backfill } };
  return JSON.stringify({
    object: "account",
    property: propertyFields(property),
    ...("key" in caller
      ? { key: { ...keyFields(caller.key), ...rateLimits } }
      : // Those of the token, which may have been given for fewer than the installation has.
        { installation: { ...installationFields(caller.installation), scopes: [...scopes], ...rateLimits } }),
  });
}

function propertyFields(property: Property): object {
  const livemode = property.mode === Mode.LIVE;
  return {
    id: property.id,
    object: "property",
    name: property.name,
    mode: livemode ? "live" : "test",
    livemode,
    default_currency: property.defaultCurrency,
    timezone: property.timezone,
    created_at: timeOrNull(property.createdAt),
  };
}

function keyFields(key: Key): object {
  return {
    id: key.id,
    object: "key",
    name: key.name,
    display_prefix: key.displayPrefix,
    scopes: key.scopes,
    revision: key.revision,
    created_at: timeOrNull(key.createdAt),
    expires_at: timeOrNull(key.expiresAt),
    last_used_at: timeOrNull(key.lastUsedAt),
  };
}
