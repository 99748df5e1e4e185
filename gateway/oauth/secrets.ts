/**
 * Secrets of the authorization server. They are derived from the one that all gateways of a mesh share, so that each
 * gateway goes on where another has begun, and nothing is stored.
 */
import { createECDH, createHmac, hkdfSync } from "node:crypto";
import type { JWK } from "oidc-provider";

const keyBytes = 32;
const curve = "prime256v1";

export interface OAuthSecrets {
  /** Sign cookies; the first one those that are new. */
  cookieKeys: string[];
  /** Signs what oidc-provider would sign. Access tokens are opaque, so nothing is. */
  signingKey: JWK;
  /**
   * Makes the token that follows a refresh token, 256 bits as 43 characters of base64url. It is the same for the same
   * refresh token, so that many refreshes at once, or one that is repeated because its answer was lost, give one
   * successor. Without the refresh token itself, which is not stored, nobody can make it.
   */
  successor(kind: "access" | "refresh", refreshToken: string, scope: string): string;
}

/** @param accepted another secret, whose cookies are good too. */
export function createOAuthSecrets(secret: string, accepted?: string): OAuthSecrets {
  const tokenKey = derive(secret, "tokens");
  const known = accepted === undefined ? [secret] : [secret, accepted];
  return {
    cookieKeys: known.map((from) => derive(from, "cookies").toString("base64url")),
    signingKey: deriveSigningKey(secret),
    successor: (kind, refreshToken, scope) =>
      createHmac("sha256", tokenKey)
        .update(JSON.stringify([kind, refreshToken, scope]))
        .digest("base64url"),
  };
}

function derive(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", `daybook oauth ${purpose}`, keyBytes));
}

/** An ES256 key. One of about 2^32 texts of bytes is none, and the next one is tried. */
function deriveSigningKey(secret: string): JWK {
  for (let attempt = 0; ; attempt++) {
    const d = derive(secret, `signing ${attempt}`);
    const ecdh = createECDH(curve);
    try {
      ecdh.setPrivateKey(d);
    } catch {
      continue;
    }
    // A point in its uncompressed form: 4, x, y.
    const point = ecdh.getPublicKey();
    const text = (bytes: Buffer): string => bytes.toString("base64url");
    return {
      kty: "EC",
      crv: "P-256",
      alg: "ES256",
      use: "sig",
      x: text(point.subarray(1, 1 + keyBytes)),
      y: text(point.subarray(1 + keyBytes)),
      d: text(d),
    };
  }
}
