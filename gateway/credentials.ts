/** The credential of a request: the secret of a key, or an access token of an app. */
import type { FastifyRequest } from "fastify";
import { modeOfKey } from "#shared/values/key-form.ts";
import { countHeaders } from "./headers.ts";

export type CredentialKind = "key" | "token";

export interface Credential {
  kind: CredentialKind;
  secret: string;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Schemes of Authorization that the route accepts, in lower case; by default only Bearer. */
    authSchemes?: readonly string[];
    /** A prefix of the secret that is stripped. */
    keyPrefix?: string;
  }
}

const credentialPattern = /^([\w-]{1,64}) +([\x21-\x7e]{1,512})$/;
/** 256 bits in base64url. */
const tokenPattern = /^[\w-]{43}$/;
const bearerOnly: readonly string[] = ["bearer"];

// A key can have the form of a token, but no token that is drawn at random has the form of a key.
const isOfKind: Record<CredentialKind, (secret: string) => boolean> = {
  key: (secret) => modeOfKey(secret) !== undefined,
  token: (secret) => tokenPattern.test(secret),
};
const kinds: readonly CredentialKind[] = ["key", "token"];

/** The credential of a request, if it has exactly one and that has the form of a key or of a token. */
export function readCredential({ raw, routeOptions }: FastifyRequest): Credential | undefined {
  // With two Authorization headers Node uses the first; a proxy may use the other.
  const isOnly = countHeaders(raw, "authorization") === 1;
  const [, scheme = "", given] = (isOnly && credentialPattern.exec(raw.headers.authorization ?? "")) || [];
  const { authSchemes = bearerOnly, keyPrefix = "" } = routeOptions.config;
  if (given === undefined || !authSchemes.includes(scheme.toLowerCase())) return undefined;
  // A token may begin with the prefix by chance, so it is also read as it was given.
  const secrets = given.startsWith(keyPrefix) ? [given.slice(keyPrefix.length), given] : [given];
  for (const kind of kinds) {
    const secret = secrets.find(isOfKind[kind]);
    if (secret !== undefined) return { kind, secret };
  }
  return undefined;
}
