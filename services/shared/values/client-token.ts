/** Tokens of internal clients: `ic_`, then 40 base-62 characters. */
import { createHash } from "node:crypto";
import { randomBase62 } from "./base62.ts";

const randomLength = 40;
const pattern = /^ic_[0-9A-Za-z]{40}$/;

/** A new token from the system's CSPRNG: 40 base-62 characters, 238 bits. */
export function newClientToken(): string {
  return `ic_${randomBase62(randomLength)}`;
}

/** Whether a text has the form of a token. What has not is not hashed, however long it is. */
export function isClientToken(text: string): boolean {
  return pattern.test(text);
}

/** SHA-256, which is what the database stores. Tokens are random, so salt or stretching adds nothing. */
export function hashClientToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
