/** Apps as clients of oidc-provider. */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { AdapterPayload, Provider } from "oidc-provider";
import { AppStatus, AppType } from "#proto/daybook/identity/v1/apps_pb.ts";
import type { FindClientResponse } from "#proto/daybook/identity/v1/oauth_pb.ts";

/** Metadata of ours: the hashes of an app's secrets, in hex. */
const hashesName = "secret_hashes";
export const extraClientMetadata = { properties: [hashesName] };
const secretLengthMax = 512;

// The library wants a secret of each confidential client. This one is known to nobody, so that nothing is open if the
// library ever compares it itself.
const placeholder = randomBytes(32).toString("base64url");

/** @returns undefined for an app that has no access. */
export function toClientMetadata({ app, secretHashes }: FindClientResponse): AdapterPayload | undefined {
  if (app?.status !== AppStatus.ACTIVE) return undefined;
  const isPublic = app.type === AppType.PUBLIC;
  return {
    client_id: app.id,
    client_name: app.name,
    redirect_uris: app.redirectUris,
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    // Another mode would put the code into a page, or where scripts of the app's page see it.
    response_modes: ["query"],
    // A native client may use any port of a loopback address (RFC 8252, section 7.3).
    application_type: isPublic ? "native" : "web",
    token_endpoint_auth_method: isPublic ? "none" : "client_secret_basic",
    scope: app.scopes.join(" "),
    id_token_signed_response_alg: "ES256",
    ...(isPublic
      ? {}
      : { client_secret: placeholder, [hashesName]: secretHashes.map((bytes) => Buffer.from(bytes).toString("hex")) }),
  };
}

/** Compares secrets of clients by their hashes: the library compares them in plain. */
export function compareSecretsByHash(provider: Provider): void {
  provider.Client.prototype.compareClientSecret = function compare(actual: string): boolean {
    if (typeof actual !== "string" || actual.length > secretLengthMax) return false;
    const given = hash("sha256", actual, "buffer");
    const known = (this[hashesName] as string[] | undefined) ?? [];
    // All of them are compared, so that the time does not tell which one is close.
    return known.map((hex) => timingSafeEqual(Buffer.from(hex, "hex"), given)).includes(true);
  };
}
