import { expect, test } from "vitest";
import { changeTags } from "./tags.ts";

const nothing = { add: [], remove: [], replace: false };

test("tags are added once, taken away, and replaced", () => {
  expect(changeTags(["a", "b"], { ...nothing, add: ["c", "a", "c"] })).toEqual(["a", "b", "c"]);
  expect(changeTags(["a", "b"], { ...nothing, remove: ["a", "x"] })).toEqual(["b"]);
  expect(changeTags(["a", "b"], { ...nothing, add: ["a"], remove: ["a"] })).toEqual(["b", "a"]);
  expect(changeTags(["a", "b", "c"], { ...nothing, add: ["d", "b"], replace: true })).toEqual(["b", "d"]);
  expect(changeTags(["a"], { ...nothing, replace: true })).toEqual([]);
});

test("every tag that cannot be kept is named", () => {
  const add = ["ok", "", "x".repeat(256), "\0"];
  expect(() => changeTags([], { ...nothing, add })).toThrow(
    expect.objectContaining({
      code: "parameter_invalid",
      errors: ["add.1", "add.2", "add.3"].map((param) => expect.objectContaining({ param })),
    }),
  );
});

test("a profile has at most 250 tags", () => {
  const many = Array.from({ length: 250 }, (_, index) => `t${index}`);
  expect(changeTags(many, { ...nothing, add: ["t1"] })).toHaveLength(250);
  expect(() => changeTags(many, { ...nothing, add: ["new"] })).toThrow(
    expect.objectContaining({ code: "too_many_items" }),
  );
});
