/** Sign-in by an OpenID Connect issuer: authorization code with PKCE, state and nonce. */
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  discovery,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type Configuration,
} from "openid-client";
import { DaybookError, serviceUnavailable } from "#shared/values/errors.ts";
import { toTimestamp } from "#shared/values/time.ts";

export interface IssuerSettings {
  url: string;
  clientId: string;
  clientSecret: string;
}

/** What the browser keeps, sealed, while it is at the issuer. */
export interface Pending {
  state: string;
  nonce: string;
  verifier: string;
  /** She must show there that it is her, even if she is signed in. */
  isFresh: boolean;
  /** Where she wants to go. */
  next: string;
  /** Seconds since 1970. */
  begunAt: number;
}

/** Whom the issuer vouches for. */
export interface Vouched {
  issuer: string;
  subject: string;
  /** Verified by the issuer. */
  email: string;
  name?: string;
  /** When she last showed that it is her, if the issuer says so. */
  authenticatedAt?: Timestamp;
}

export interface Issuer {
  /** For people: where they sign in. */
  host: string;
  /** @returns where to send the browser, and what it keeps. */
  begin(redirectUri: string, wanted: { next: string; isFresh: boolean }): Promise<{ url: URL; pending: Pending }>;
  /** @param callback the address that the issuer sent the browser to. @throws DaybookError why nobody is signed in. */
  finish(callback: URL, pending: Pending): Promise<Vouched>;
}

const timeoutSeconds = 10;
const scope = "openid email profile";
/** Time for a sign-in at the issuer. */
export const pendingSecondsMax = 600;
// So long ago she may have shown there that it is her.
const freshSecondsMax = 120;
const nameLengthMax = 255;
// Of a session here: a sign-in there is good for no longer. With it issuers must tell when it was.
const ageSecondsMax = 7 * 24 * 60 * 60;

export function createIssuer({ url, clientId, clientSecret }: IssuerSettings): Issuer {
  const server = new URL(url);
  let found: Promise<Configuration> | undefined;

  /** Asks the issuer once. After a failure the next sign-in asks again. */
  async function configuration(): Promise<Configuration> {
    found ??= discovery(server, clientId, clientSecret, undefined, {
      timeout: timeoutSeconds,
      // Settings allow http for an issuer on the same computer only.
      ...(server.protocol === "http:" ? { execute: [allowInsecureRequests] } : {}),
    });
    try {
      return await found;
    } catch (error) {
      found = undefined;
      throw serviceUnavailable(error);
    }
  }

  return {
    host: server.host,
    async begin(redirectUri, { next, isFresh }) {
      const pending: Pending = {
        state: randomState(),
        nonce: randomNonce(),
        verifier: randomPKCECodeVerifier(),
        isFresh,
        next,
        begunAt: nowSeconds(),
      };
      const address = buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope,
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: "S256",
        ...(isFresh ? { prompt: "login", max_age: "0" } : { max_age: String(ageSecondsMax) }),
      });
      return { url: address, pending };
    },
    async finish(callback, { state, nonce, verifier, isFresh }) {
      const config = await configuration();
      const tokens = await authorizationCodeGrant(config, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      }).catch((cause: unknown) => {
        throw new DaybookError("unknown_member", `${server.host} did not sign you in. Try again.`, { cause });
      });
      const claims = tokens.claims();
      if (!claims) throw new Error("a token answer with an id token has claims");
      if (isFresh && !(Number(claims.auth_time) >= nowSeconds() - freshSecondsMax)) {
        throw new DaybookError("unknown_member", `${server.host} did not ask you to sign in again. Try again.`);
      }
      // Some issuers tell of emails at their user-info endpoint only.
      const person = claims.email === undefined ? await fetchUserInfo(config, tokens.access_token, claims.sub) : claims;
      const { email, email_verified: isVerified, name } = person;
      if (typeof email !== "string" || isVerified !== true) {
        const message = `${server.host} does not vouch for your email. Verify it there, or sign in with a password.`;
        throw new DaybookError("unknown_member", message);
      }
      return {
        issuer: claims.iss,
        subject: claims.sub,
        email,
        ...(typeof name === "string" && name !== "" ? { name: name.slice(0, nameLengthMax) } : {}),
        ...(typeof claims.auth_time === "number" ? { authenticatedAt: toTimestamp(claims.auth_time * 1_000_000) } : {}),
      };
    },
  };
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
