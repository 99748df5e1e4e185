/**
 * Sealed texts, such as secrets that have to be read again: AES-256-GCM under a key that HKDF derives from the internal
 * token. A version byte, 12 bytes of nonce, the ciphertext, and 16 bytes of tag.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

export interface Sealing {
  /** @param place where it stands, such as a table and an id: it opens only there. */
  seal(place: readonly string[], text: string): Buffer;
  /** @throws Error for what no token sealed for this place. */
  open(place: readonly string[], sealed: Uint8Array): string;
  /**
   * Seals anew what only the accepted token opens.
   * @returns undefined for what the first token opens.
   * @throws Error as `open`.
   */
  reseal(place: readonly string[], sealed: Uint8Array): Buffer | undefined;
}

const algorithm = "aes-256-gcm";
const version = 1;
const versionBytes = 1;
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * @param purpose keeps keys of different uses of a token apart.
 * @param token seals.
 * @param accepted the token before or after it: what it sealed is opened too.
 */
export function createSealing(purpose: string, token: string, accepted?: string): Sealing {
  const derive = (from: string): Buffer => Buffer.from(hkdfSync("sha256", from, "", `daybook ${purpose}`, keyBytes));
  const key = derive(token);
  const acceptedKey = accepted === undefined ? undefined : derive(accepted);

  function openWith(known: Buffer, place: readonly string[], sealed: Uint8Array): string | undefined {
    if (sealed.length < versionBytes + nonceBytes + tagBytes || sealed[0] !== version) return undefined;
    const nonce = sealed.subarray(versionBytes, versionBytes + nonceBytes);
    const decipher = createDecipheriv(algorithm, known, nonce, { authTagLength: tagBytes }).setAAD(bound(place));
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    try {
      const text = decipher.update(sealed.subarray(versionBytes + nonceBytes, -tagBytes));
      return Buffer.concat([text, decipher.final()]).toString();
    } catch {
      return undefined;
    }
  }

  function seal(place: readonly string[], text: string): Buffer {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(bound(place));
    return Buffer.concat([Buffer.from([version]), nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
  }

  function openAccepted(place: readonly string[], sealed: Uint8Array): string {
    const text = acceptedKey && openWith(acceptedKey, place, sealed);
    if (text === undefined) throw new Error("a sealed text cannot be opened with the tokens in INTERNAL_TOKEN");
    return text;
  }

  return {
    seal,
    open: (place, sealed) => openWith(key, place, sealed) ?? openAccepted(place, sealed),
    reseal: (place, sealed) =>
      openWith(key, place, sealed) === undefined ? seal(place, openAccepted(place, sealed)) : undefined,
  };
}

function bound(place: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(place));
}
