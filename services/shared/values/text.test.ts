import { expect, test } from "vitest";
import { isLongerThan, normalizeForSearch, normalizeText } from "./text.ts";

const charactersMax = 255;

test("lengths are counted in characters, not in code units", () => {
  for (const character of ["a", "é", "한", "😀"]) {
    expect(isLongerThan(character.repeat(charactersMax), charactersMax)).toBe(false);
    expect(isLongerThan(character.repeat(charactersMax + 1), charactersMax)).toBe(true);
  }
});

test("a text is taken if its normal form is short enough, however it is written", () => {
  // NFD takes 1, 2, 3 and 4 code points for these.
  for (const character of ["a", "é", "한", "ᾂ"]) {
    for (const form of ["NFC", "NFD"]) {
      const [most, tooMany] = [charactersMax, charactersMax + 1].map((count) =>
        character.repeat(count).normalize(form),
      );
      expect(normalizeText(most ?? "", charactersMax)).toEqual({ text: character.repeat(charactersMax) });
      expect(normalizeText(tooMany ?? "", charactersMax)).toEqual({ reason: "has at most 255 characters" });
    }
  }
});

test("combining marks are put in order, up to 30 in a row", () => {
  const marks = (count: number): string => `a${"\u0315".repeat(count)}${"\u0316".repeat(count)}`;
  expect(normalizeText(marks(15), charactersMax)).toEqual({ text: `a${"\u0316".repeat(15)}${"\u0315".repeat(15)}` });
  expect(normalizeText(marks(16), charactersMax)).toEqual({ reason: "has at most 30 combining marks in a row" });
});

test("a text to search in is normalised, and keeps 30 of marks in a row", () => {
  expect(normalizeForSearch("e\u0301")).toBe("\u00e9");
  expect(normalizeForSearch(`a${"\u0316".repeat(40)}b`)).toBe(`a${"\u0316".repeat(30)}b`);
  // As it is, this takes minutes.
  const half = 200_000;
  const before = process.cpuUsage();
  expect(normalizeForSearch(`${"\u0315".repeat(half)}${"\u0316".repeat(half)}`)).toHaveLength(30);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(2_000);
});

test("megabytes of what is worst to normalise cost next to nothing", () => {
  const half = 1_000_000;
  const before = process.cpuUsage();
  for (const text of [
    `a${"\u0315".repeat(half)}${"\u0316".repeat(half)}`,
    "a\u0315\u0316".repeat(half),
    "\u{1d165}\u{1d16d}".repeat(half),
  ]) {
    expect(normalizeText(text, charactersMax)).toEqual({ reason: "has at most 255 characters" });
  }
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(500);
});
