/** Which scopes a member may give a key or an app. */
import type { CreateKeyRequest, RotateKeyRequest } from "#proto/daybook/identity/v1/identity_pb.ts";
import { callOptions } from "#shared/rpc/interceptors.ts";
import { missingRight } from "./refusal.ts";
import type { Exchange } from "./method.ts";
import { callOf } from "./calls.ts";

/**
 * Scopes that show personal data or destroy it. Only a member who may do so herself gives them to a key, or else a key
 * would be a way around her role. Other scopes are given by everyone who manages keys: a developer's key records
 * events, which the developer does not do in the dashboard.
 */
export const guardedScopes: readonly string[] = [
  "consent:read_audit",
  "conversations:read",
  "identifiers:read_value",
  "messages:read",
  "privacy:delete",
  "privacy:export",
  "privacy:read",
  "profiles:merge",
];

/** The first scope that a member with these rights may not give; undefined if she may give all. */
export function scopeNotToGive(scopes: readonly string[], rights: ReadonlySet<string>): string | undefined {
  return scopes.find((scope) => guardedScopes.includes(scope) && !rights.has(scope));
}

/** @throws DaybookError `missing_scope` */
function checkScopes(scopes: readonly string[], rights: ReadonlySet<string>): void {
  const lacking = scopeNotToGive(scopes, rights);
  if (lacking !== undefined) throw missingRight(lacking);
}

export function checkNewKey({ scopes, allScopes }: CreateKeyRequest, { rights }: Exchange): void {
  checkScopes(allScopes ? guardedScopes : scopes, rights);
}

/** The new key may do what the old one may, and its secret is shown. */
export async function checkRotatedKey(
  { propertyId, keyId }: RotateKeyRequest,
  { clients, rights, request, viewer }: Exchange,
): Promise<void> {
  const { key } = await clients.identity.getKey({ propertyId, keyId }, callOptions(callOf(request, viewer)));
  checkScopes(key?.scopes ?? guardedScopes, rights);
}
