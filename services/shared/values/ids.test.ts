import fc from "fast-check";
import { TypeID } from "typeid-js";
import { expect, test } from "vitest";
import { decodeId, deriveUuid, encodeId, isId, newId, newUuid, timeOfUuid, toUuid, tryDecodeId } from "./ids.ts";

test("writes and reads every UUID as the reference implementation does", () => {
  fc.assert(
    fc.property(fc.uuid().map(toUuid), (uuid) => {
      const id = encodeId("prof", uuid);
      expect(id).toBe(TypeID.fromUUID("prof", uuid).toString());
      expect(isId(id)).toBe(true);
      expect(tryDecodeId("prof", id)).toBe(uuid);
      expect(tryDecodeId("prof", id.toUpperCase())).toBe(uuid);
      expect(tryDecodeId("evt", id)).toBeUndefined();
    }),
  );
});

test("reads nothing that the reference implementation refuses", () => {
  const almost = fc
    .tuple(fc.uuid().map(toUuid), fc.nat(30), fc.constantFrom(..."ilou89_-.A ſK8z"))
    .map(([uuid, at, character]) => {
      const id = encodeId("prof", uuid);
      return id.slice(0, at) + character + id.slice(at + 1);
    });
  fc.assert(
    fc.property(fc.oneof(fc.string(), almost), (text) => {
      const uuid = tryDecodeId("prof", text);
      // Compares bytes, because its toUUID also checks the version.
      const bytes = (): Uint8Array => TypeID.fromString(text.toLowerCase(), "prof").toUUIDBytes();
      if (uuid !== undefined) expect(Buffer.from(bytes()).toString("hex")).toBe(uuid.replaceAll("-", ""));
      else expect(() => TypeID.fromString(text, "prof")).toThrow();
    }),
  );
});

test("ids of one process sort by creation, and none comes twice", () => {
  // More than the counter of one millisecond holds.
  const ids = Array.from({ length: 100_000 }, () => newId("evt"));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test("a new id is a UUIDv7 of now", () => {
  const before = Date.now();
  const uuid = newUuid();
  expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const time = Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
  expect(time).toBeGreaterThanOrEqual(before);
  // Earlier ids of this file may have advanced the time.
  expect(time).toBeLessThan(Date.now() + 1000);
});

test("a part of what an id names has an id of its own, always the same, of the same time", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (part, other) => {
      const uuid = newUuid();
      const derived = deriveUuid(uuid, part);
      expect(derived).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(timeOfUuid(derived)).toBe(timeOfUuid(uuid));
      expect(deriveUuid(uuid, part)).toBe(derived);
      expect(deriveUuid(uuid, other) === derived).toBe(part === other);
      expect(deriveUuid(newUuid(), part)).not.toBe(derived);
    }),
  );
});

test("says where a bad id stands", () => {
  expect(() => decodeId("prof", "prof_1", "identifier.id")).toThrow(
    expect.objectContaining({ code: "invalid_id", param: "identifier.id" }),
  );
});
