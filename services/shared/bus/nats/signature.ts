/**
 * Signatures of NATS messages. Anybody who reaches the server can publish, so consumers accept only messages signed
 * with the internal token. A captured message can be replayed, but its signature expires before consumers forget it.
 */
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { headers, type MsgHdrs } from "@nats-io/transport-node";

/** Signs payloads for their subjects, and verifies signatures. */
export interface Signer {
  /** @returns the headers of a message, with its signature. */
  sign(subject: string, payload: Uint8Array): MsgHdrs;
  /** Whether a message has an unexpired signature by one of the tokens. */
  isSigned(message: { subject: string; data: Uint8Array; headers?: MsgHdrs | undefined }): boolean;
}

/** The header of the signature: its time in milliseconds since 1970, a dot, and the signature in base64url. */
export const signatureHeader = "Daybook-Signature";
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
export function createSigner(token: string, accepted?: string, nowMs = Date.now): Signer {
  const key = deriveKey(token);
  const keys = accepted === undefined ? [key] : [key, deriveKey(accepted)];
  return {
    sign(subject, payload) {
      const messageHeaders = headers();
      const at = String(nowMs());
      messageHeaders.set(signatureHeader, `${at}.${signatureOf(key, at, subject, payload).toString("base64url")}`);
      return messageHeaders;
    },
    isSigned({ subject, data, headers: messageHeaders }) {
      const [, at = "", signature = ""] = signaturePattern.exec(messageHeaders?.get(signatureHeader) ?? "") ?? [];
      if (at === "" || nowMs() - Number(at) > signatureAgeMaxMs) return false;
      const received = Buffer.from(signature, "base64url");
      return keys.some((known) => {
        const expected = signatureOf(known, at, subject, data);
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
