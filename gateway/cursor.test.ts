import fc from "fast-check";
import { expect, test } from "vitest";
import { createCursors } from "./cursor.ts";

let seconds = 1_800_000_000;
const clock = { nowMicros: () => seconds * 1_000_000 };
const cursors = createCursors("a secret", clock);
const invalid = expect.objectContaining({ code: "invalid_cursor", param: "page[after]" });

test("a cursor gives back its position within its own scope, and nothing outside it", () => {
  const scopes = fc.array(fc.string(), { maxLength: 4 });
  // Long positions are deflated.
  const positions = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: "grapheme", minLength: 300, maxLength: 1000 }),
  );
  fc.assert(
    fc.property(scopes, scopes, positions, (scope, other, position) => {
      const cursor = cursors.write(scope, position);
      expect(cursor).toMatch(/^cur_[A-Za-z0-9_-]+$/);
      expect(cursors.read(scope, cursor)).toBe(position);
      fc.pre(JSON.stringify(scope) !== JSON.stringify(other));
      expect(() => cursors.read(other, cursor)).toThrow(invalid);
    }),
  );
});

test("a cursor that was changed in any way is refused", () => {
  const cursor = cursors.write(["s"], "position");
  fc.assert(
    fc.property(fc.nat(cursor.length - 1), fc.constantFrom(..."ABab01-_.= "), (at, character) => {
      fc.pre(cursor[at] !== character);
      const forged = cursor.slice(0, at) + character + cursor.slice(at + 1);
      expect(() => cursors.read(["s"], forged)).toThrow(invalid);
    }),
  );
  for (const text of ["", "cur_", cursor.slice(0, -1), `${cursor}A`, `${cursor}=`, cursor.slice(4)]) {
    expect(() => cursors.read(["s"], text)).toThrow(invalid);
  }
  expect(() => createCursors("another secret", clock).read(["s"], cursor)).toThrow(invalid);
  expect(createCursors("another secret", clock, "a secret").read(["s"], cursor)).toBe(cursors.read(["s"], cursor));
  const newer = createCursors("another secret", clock, "a secret").write(["s"], "1");
  expect(() => cursors.read(["s"], newer)).toThrow(invalid);
});

test("what a cursor holds cannot be read from it", () => {
  const position = "ada@example.com";
  for (const long of ["", "x".repeat(1000)]) {
    const cursor = cursors.write(["s"], position + long);
    expect(Buffer.from(cursor.slice(4), "base64url").toString("latin1")).not.toContain(position);
    expect(cursors.write(["s"], position + long)).not.toBe(cursor);
  }
});

test("a cursor lives 7 days", () => {
  const cursor = cursors.write(["s"], "p");
  seconds += 7 * 24 * 60 * 60;
  expect(cursors.read(["s"], cursor)).toBe("p");
  seconds += 1;
  expect(() => cursors.read(["s"], cursor)).toThrow(invalid);
});
