import { expect, test } from "vitest";
import { readRevision } from "./revision.ts";

test.each([
  ["2026-05-01", "2026-05-01"],
  ["2026-10-31", "2026-05-01"],
  ["2026-11-01", "2026-11-01"],
  ["2099-12-31", "2026-11-01"],
])("%s means the revision %s", (asked, revision) => {
  expect(readRevision(asked)).toBe(revision);
});

test.each(["2026-04-30", "2026-02-30", "yesterday", "", "2026-11-01T00:00:00Z", "2026-11-01, 2026-05-01"])(
  "%j is refused",
  (asked) => {
    expect(() => readRevision(asked)).toThrow(expect.objectContaining({ code: "invalid_revision" }));
  },
);
