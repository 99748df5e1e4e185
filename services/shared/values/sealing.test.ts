import { expect, test } from "vitest";
import { createSealing } from "./sealing.ts";

const place = ["webhook.endpoints", "1", "secret"];
const before = createSealing("test", "the token before");
const during = createSealing("test", "the token after", "the token before");
const after = createSealing("test", "the token after");

test("a sealed text opens at its place only, for its purpose and by its token", () => {
  const sealed = before.seal(place, "Grüße");
  expect(before.open(place, sealed)).toBe("Grüße");
  expect(before.seal(place, "Grüße")).not.toEqual(sealed);
  expect(() => before.open(["webhook.endpoints", "2", "secret"], sealed)).toThrow("cannot be opened");
  expect(() => createSealing("other", "the token before").open(place, sealed)).toThrow("cannot be opened");
  expect(() => after.open(place, sealed)).toThrow("cannot be opened");
});

test("no byte of a sealed text can be changed, and none left out", () => {
  const sealed = before.seal(place, "secret");
  for (let at = 0; at < sealed.length; at++) {
    const forged = Buffer.from(sealed);
    forged[at] = (forged[at] ?? 0) ^ 1;
    expect(() => before.open(place, forged)).toThrow("cannot be opened");
    expect(() => before.open(place, sealed.subarray(0, at))).toThrow("cannot be opened");
  }
});

test("what the other token sealed is opened and sealed anew while both are accepted", () => {
  const sealed = before.seal(place, "secret");
  expect(during.open(place, sealed)).toBe("secret");
  const resealed = during.reseal(place, sealed);
  expect(after.open(place, resealed ?? Buffer.alloc(0))).toBe("secret");
  expect(during.reseal(place, resealed ?? Buffer.alloc(0))).toBe(undefined);
  expect(() => after.reseal(place, sealed)).toThrow("cannot be opened");
});
