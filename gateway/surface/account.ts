/** The account of a request: its property, and the key or the installation that calls. */
import type { App, Installation } from "#proto/daybook/identity/v1/apps_pb.ts";
import type { Key, Property } from "#proto/daybook/identity/v1/identity_pb.ts";
import type { Exchange } from "./exchange.ts";

export interface Account {
  property: Property;
  caller: { key: Key } | { installation: Installation };
}

export async function readAccount(exchange: Exchange): Promise<Account> {
  if (exchange.caller.kind === "installation") {
    const { property, installation } = await readOwnInstallation(exchange);
    return { property, caller: { installation } };
  }
  const { caller, propertyId, services } = exchange;
  const { key, property } = await services.identity.getKey({ propertyId, keyId: caller.callerId });
  if (!key || !property) throw new Error("the key was not returned");
  return { property, caller: { key } };
}

/** The installation whose access token calls, with what it joins. */
export async function readOwnInstallation({
  caller,
  propertyId,
  services,
}: Exchange): Promise<{ installation: Installation; property: Property; app: App }> {
  const found = await services.apps.getInstallation({ propertyId, installationId: caller.callerId });
  const { installation, property, app } = found;
  if (!installation || !property || !app) throw new Error("the installation was not returned");
  return { installation, property, app };
}
