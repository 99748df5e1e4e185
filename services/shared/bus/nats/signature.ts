/** Signatures of NATS messages, in a header. Anybody who reaches the server can publish. */
import { headers, type MsgHdrs } from "@nats-io/transport-node";
import { createSignatures } from "../signatures.ts";

/** Signs payloads for their subjects, and verifies signatures. */
export interface Signer {
  /** @returns the headers of a message, with its signature. */
  sign(subject: string, payload: Uint8Array): MsgHdrs;
  /** Whether a message has an unexpired signature by one of the tokens. */
  isSigned(message: { subject: string; data: Uint8Array; headers?: MsgHdrs | undefined }): boolean;
}

/** The header of the signature. */
export const signatureHeader = "Daybook-Signature";

/** @see createSignatures */
export function createSigner(...tokens: Parameters<typeof createSignatures>): Signer {
  const signatures = createSignatures(...tokens);
  return {
    sign(subject, payload) {
      const messageHeaders = headers();
      messageHeaders.set(signatureHeader, signatures.make(subject, payload));
      return messageHeaders;
    },
    isSigned: ({ subject, data, headers: given }) =>
      signatures.isGood(subject, data, given?.get(signatureHeader) ?? ""),
  };
}
