import { randomBytes } from "node:crypto";

const tokenBytes = 32;
/** Of SHA-256. */
export const tokenHashBytes = 32;

/** A new token of a link or a session, from the system's CSPRNG: 256 bits, 43 characters of base64url. */
export function newToken(): string {
  return randomBytes(tokenBytes).toString("base64url");
}
