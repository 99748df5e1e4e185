/**
 * Signatures of what goes between processes over a server that others may reach, such as NATS: consumers accept only
 * what was signed with the internal token. What is captured can be replayed, but its signature expires before
 * consumers forget it.
 */
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

/** Signs payloads for their subjects, and verifies signatures. */
export interface Signatures {
  /** @returns the time in milliseconds since 1970, a dot, and the signature in base64url. */
  make(subject: string, payload: Uint8Array): string;
  /** Whether a signature is an unexpired one of this payload, by one of the tokens. */
  isGood(subject: string, payload: Uint8Array, signature: string): boolean;
}

const signaturePattern = /^(\d{1,15})\.([\w-]{43})$/;

/**
 * How long a signature is valid: longer than the stream keeps a message (7 days), and half a day, for clocks that
 * differ, shorter than the metric service keeps the ids of counted batches (8 days).
 */
export const signatureAgeMaxMs = 7.5 * 24 * 60 * 60 * 1000;

const keyBytes = 32;
// The token is also the credential of RPCs. A derived key keeps signatures from revealing anything about it.
const keyPurpose = "daybook bus signature v1";

/**
 * @param token the internal token of the mesh.
 * @param accepted the token before or after it: its signatures are accepted, but none are made.
 */
export function createSignatures(token: string, accepted?: string, nowMs = Date.now): Signatures {
  const key = deriveKey(token);
  const keys = accepted === undefined ? [key] : [key, deriveKey(accepted)];
  return {
    make(subject, payload) {
      const at = String(nowMs());
      return `${at}.${signatureOf(key, at, subject, payload).toString("base64url")}`;
    },
    isGood(subject, payload, given) {
      const [, at = "", signature = ""] = signaturePattern.exec(given) ?? [];
      if (at === "" || nowMs() - Number(at) > signatureAgeMaxMs) return false;
      const received = Buffer.from(signature, "base64url");
      return keys.some((known) => {
        const expected = signatureOf(known, at, subject, payload);
        return received.length === expected.length && timingSafeEqual(received, expected);
      });
    },
  };
}

function deriveKey(token: string): Buffer {
  return Buffer.from(hkdfSync("sha256", token, "", keyPurpose, keyBytes));
}

/** Unambiguous because neither a time nor a subject contains NUL. */
function signatureOf(key: Buffer, at: string, subject: string, payload: Uint8Array): Buffer {
  return createHmac("sha256", key).update(`${at}\0${subject}\0`).update(payload).digest();
}
