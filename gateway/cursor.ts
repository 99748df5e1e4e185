/**
 * Cursors: opaque, bound to a property and a query, valid for 7 days. `cur_` and base64url of AES-256-GCM: 12 bytes of
 * nonce, the ciphertext, and 16 bytes of tag. The plaintext is 6 bytes of time (seconds since 1970) and the position.
 * It is encrypted because a position may hold data that the caller must not see, such as the email that a list
 * continues after. The first byte of a time is always 0; it is 1 if the position is deflated, so that a cursor with a
 * filter of many values fits into a URL.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Clock } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";

export interface Cursors {
  /**
   * @param scope everything that the cursor is bound to: property, list, filters, sort.
   * @param position where the next page begins.
   */
  write(scope: readonly string[], position: string): string;
  /** @throws DaybookError `invalid_cursor` unless it was written for the same scope within 7 days */
  read(scope: readonly string[], cursor: string): string;
}

const prefix = "cur_";
const algorithm = "aes-256-gcm";
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const timeBytes = 6;
const deflatedMark = 1;
const plainBytesMax = 256;
const ageSecondsMax = 7 * 24 * 60 * 60;

/**
 * @param secret encrypts cursors.
 * @param accepted another secret, whose cursors are read too.
 */
export function createCursors(secret: string, clock: Clock, accepted?: string): Cursors {
  const derive = (from: string): Buffer => Buffer.from(hkdfSync("sha256", from, "", "daybook cursors", keyBytes));
  const key = derive(secret);
  const keys = accepted === undefined ? [key] : [key, derive(accepted)];
  const now = (): number => Math.floor(clock.nowMicros() / 1_000_000);
  const bound = (scope: readonly string[]): Buffer => Buffer.from(JSON.stringify(scope));

  function encrypt(scope: readonly string[], content: Buffer): Buffer {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(bound(scope));
    return Buffer.concat([nonce, cipher.update(content), cipher.final(), cipher.getAuthTag()]);
  }

  /** @returns undefined for bytes that no key encrypted for this scope. */
  function decrypt(scope: readonly string[], bytes: Buffer): Buffer | undefined {
    if (bytes.length < nonceBytes + timeBytes + tagBytes) return undefined;
    for (const known of keys) {
      const content = decryptWith(known, scope, bytes);
      if (content) return content;
    }
    return undefined;
  }

  function decryptWith(known: Buffer, scope: readonly string[], bytes: Buffer): Buffer | undefined {
    const decipher = createDecipheriv(algorithm, known, bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    }).setAAD(bound(scope));
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]);
    } catch {
      return undefined;
    }
  }

  return {
    write(scope, position) {
      const time = Buffer.alloc(timeBytes);
      time.writeUIntBE(now(), 0, timeBytes);
      const bytes = Buffer.from(position);
      const isLong = bytes.length > plainBytesMax;
      if (isLong) time[0] = deflatedMark;
      const content = Buffer.concat([time, isLong ? deflateRawSync(bytes) : bytes]);
      return prefix + encrypt(scope, content).toString("base64url");
    },
    read(scope, cursor) {
      const text = cursor.startsWith(prefix) ? cursor.slice(prefix.length) : "";
      const bytes = Buffer.from(text, "base64url");
      // Decoding ignores invalid characters, so the encoding is compared.
      const content = bytes.toString("base64url") === text ? decrypt(scope, bytes) : undefined;
      if (content && now() - content.readUIntBE(1, timeBytes - 1) <= ageSecondsMax) {
        const position = content.subarray(timeBytes);
        // Decryption has authenticated the position, so inflating it is safe.
        return (content[0] === deflatedMark ? inflateRawSync(position) : position).toString();
      }
      const message = "`page[after]` must be a cursor of this list that is at most 7 days old. Start again without it.";
      throw new DaybookError("invalid_cursor", message, { param: "page[after]" });
    },
  };
}
