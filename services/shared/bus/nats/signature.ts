/**
 * Signatures of what goes over NATS. Whoever reaches the server can publish there, so a consumer takes only what holders of the internal token
 * have signed. A message that was captured can be sent again, but only while every consumer knows it as done.
 */
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { headers, type MsgHdrs } from "@nats-io/transport-node";

/** Signs payloads for their subjects, and knows such signatures again for a while. */
export interface Signer {
  /** @returns the headers of a message, with its signature. */
  sign(subject: string, payload: Uint8Array): MsgHdrs;
  /** Whether a message has a signature that one of the tokens gives, and that is not too old. */
  isSigned(message: { subject: string; data: Uint8Array; headers?: MsgHdrs | undefined }): boolean;
}

/** The header with the signature: when it was made, in milliseconds since 1970, a dot, and the signature in base64url. */
export const signatureHeader = "Daybook-Signature";
const signaturePattern = /^(\d{1,15})\.([\w-]{43})$/;

/**
 * For how long a signature is good. Longer than the stream keeps a message, 7 days, and shorter than the metric service knows a batch that it has
 * counted, 8 days, with half a day for clocks that differ.
 */
export const signatureAgeMaxMs = 7.5 * 24 * 60 * 60 * 1000;

const keyBytes = 32;
// The token is also the credential of RPCs: a key of its own keeps a signature from telling anything of that.
const keyPurpose = "daybook bus signature v1";

/**
 * @param token what processes of one mesh have in common.
 * @param previous what they had before: its signatures are still good, but none is made.
 */
export function createSigner(token: string, previous?: string, nowMs = Date.now): Signer {
  const key = deriveKey(token);
  const keys = previous === undefined ? [key] : [key, deriveKey(previous)];
  return {
    sign(subject, payload) {
      const given = headers();
      const at = String(nowMs());
      given.set(signatureHeader, `${at}.${signatureOf(key, at, subject, payload).toString("base64url")}`);
      return given;
    },
    isSigned({ subject, data, headers: given }) {
      const [, at = "", signature = ""] = signaturePattern.exec(given?.get(signatureHeader) ?? "") ?? [];
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

/** Neither a time nor a subject has a NUL, so no two messages are signed as the same bytes. */
function signatureOf(key: Buffer, at: string, subject: string, payload: Uint8Array): Buffer {
  return createHmac("sha256", key).update(`${at}\0${subject}\0`).update(payload).digest();
}
