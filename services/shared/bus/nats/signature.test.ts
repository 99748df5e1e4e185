import { expect, test } from "vitest";
import { signatureAgeMaxMs } from "../signatures.ts";
import { createSigner, type Signer } from "./signature.ts";

const [token, other] = ["the token of the mesh of this test", "the token of some other mesh"];
const subject = "daybook.test";
const data = Buffer.from("content");
const isTaken = (by: Signer, from: Signer, at = { subject, data }): boolean =>
  by.isSigned({ ...at, headers: from.sign(subject, data) });

test("a signature is good for its token, subject and content, and for those who had the token before", () => {
  const signer = createSigner(token);
  expect(isTaken(signer, createSigner(token))).toBe(true);
  expect(isTaken(signer, createSigner(other))).toBe(false);
  expect(isTaken(createSigner(other, token), signer)).toBe(true);
  expect(isTaken(createSigner(token), createSigner(other, token))).toBe(false);
  expect(isTaken(signer, signer, { subject: `${subject}.more`, data })).toBe(false);
  expect(isTaken(signer, signer, { subject, data: Buffer.from("Content") })).toBe(false);
  expect(signer.isSigned({ subject, data })).toBe(false);
});

test("a signature is good for as long as it takes to be taken, and then no more", () => {
  const now = Date.now();
  const signed = createSigner(token, undefined, () => now);
  expect(
    isTaken(
      createSigner(token, undefined, () => now + signatureAgeMaxMs),
      signed,
    ),
  ).toBe(true);
  expect(
    isTaken(
      createSigner(token, undefined, () => now + signatureAgeMaxMs + 1),
      signed,
    ),
  ).toBe(false);
  // A clock that is behind accepts it too.
  expect(
    isTaken(
      createSigner(token, undefined, () => now - 60_000),
      signed,
    ),
  ).toBe(true);
});
