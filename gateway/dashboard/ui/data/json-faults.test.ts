import { parseTree, type Node } from "jsonc-parser";
import { expect, test } from "vitest";
import { findFaults } from "./json-faults.ts";

const body = '{"type":"a","properties":{"a.b":{"c":1},"items":[{"price":"x"},{"price":"y"}]}}';

/** The texts that are marked, and the texts of what is around them. */
function found(text: string, ...paths: string[]) {
  const root = parseTree(text) as Node;
  const { marked, above } = findFaults(root, paths);
  const from = (offset: number): string => text.slice(offset, offset + 9);
  return { marked: [...marked].map(from), above: [...above].map(([offset, child]) => [from(offset), child]) };
}

test.each([
  ["type", '"a","prop'],
  ["properties.items.1.price", '"y"}]}}'],
  ["/properties/items/1/price", '"y"}]}}'],
  ["properties.a.b.c", '1},"items'],
  // What is missing is at fault in what is there.
  ["properties.items.0.sku", '{"price":'],
  ["identifier", '{"type":"'],
  // Of an item of a batch.
  ["events.3.properties.items.0.price", '"x"},{"pr'],
  ["/data/attributes/events/data/7/type", '"a","prop'],
])("%s is marked", (path, marked) => {
  expect(found(body, path).marked).toEqual([marked]);
});

test("all around it is unfolded as far as it stands", () => {
  expect(found(body, "properties.items.1.price", "properties.items.0.price").above).toEqual([
    ['{"type":"', 1],
    ['{"a.b":{"', 1],
    ['[{"price"', 1],
    ['{"price":', 0],
    ['{"price":', 0],
  ]);
});

test("text that was cut is marked as far as it goes", () => {
  expect(found(body.slice(0, 50), "properties.items.0.price").marked).toHaveLength(1);
});
