/** Secrets of API keys: `sk_live_` or `sk_test_`, then base-62 characters. */
import { createHash } from "node:crypto";
import { randomBase62 } from "#shared/values/base62.ts";
import { modeOfKey, type ModeName } from "#shared/values/key-form.ts";

const randomLength = 40;
const displayLength = 12;

/** A new secret from the system's CSPRNG: 40 base-62 characters, 238 bits. */
export function newSecret(mode: ModeName): string {
  return `sk_${mode}_${randomBase62(randomLength)}`;
}

/** Whether a text has the form of a secret of this mode. */
export function isSecret(text: string, mode: ModeName): boolean {
  return modeOfKey(text) === mode;
}

/** SHA-256, which is what the database stores. Secrets are random, so salt or stretching adds nothing. */
export function hashSecret(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/** The start of a secret, shown in lists. */
export function displayPrefix(secret: string): string {
  return secret.slice(0, displayLength);
}
