import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AttributeOperation } from "./attribute-operations.ts";
import { checkFaults, fieldErrorsMax, type FieldError } from "#shared/values/errors.ts";
import { Attributes, mergeAttributes } from "./attributes.ts";

function changed(attributes: Attributes, patch: string | undefined, operations: readonly AttributeOperation[]): string {
  const faults: FieldError[] = [];
  attributes.change(patch, operations, faults);
  checkFaults(faults);
  return attributes.text;
}

const patched = (current: string, patch: string): string => changed(new Attributes(current), patch, []);
const applyOperations = (current: string, operations: readonly AttributeOperation[]): string =>
  changed(new Attributes(current), undefined, operations);

test("each key of the patch replaces that key, the others stay", () => {
  const objects = fc.dictionary(
    fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "a")),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(objects, objects, (current, patch) => {
      // Through text, because JSON does not keep values such as -0.
      const [before, changes] = [JSON.stringify(current), JSON.stringify(patch)];
      const merged = JSON.parse(patched(before, changes)) as object;
      const expected = new Map([
        ...Object.entries(JSON.parse(before) as object),
        ...Object.entries(JSON.parse(changes) as object),
      ]);
      expect(new Map(Object.entries(merged))).toEqual(expected);
    }),
  );
});

test("digits that a double has not are kept on both sides", () => {
  expect(patched('{"a":1e400}', '{"b":12345678901234567890}')).toBe('{"a":1e400,"b":12345678901234567890}');
});

test("the limit on size is on the result", () => {
  const half = JSON.stringify({ a: "x".repeat(200 * 1024) });
  expect(() => patched(half, JSON.stringify({ b: "x".repeat(100 * 1024) }))).toThrow(/256 KiB/);
  expect(patched(half, JSON.stringify({ a: "x" }))).toBe('{"a":"x"}');
});

test.each(["[]", "null", "1", "{", ""])("%j are no attributes", (text) => {
  expect(() => patched("{}", text)).toThrow(expect.objectContaining({ param: "attributes" }));
});

test("a merge keeps own values and takes what is lacking", () => {
  const united = mergeAttributes('{"a":1,"nested":{"x":1}}', '{"a":2,"nested":{"y":2},"b":12345678901234567890}');
  expect(united.attributes).toBe('{"a":1,"nested":{"x":1},"b":12345678901234567890}');
  expect(united.moved).toEqual(["b"]);
  expect(mergeAttributes('{"a":1}', '{"a":2}')).toEqual({ attributes: '{"a":1}', moved: [] });
});

describe("operations", () => {
  type Tree = Map<string, Node>;
  type Node = Tree | string[] | string;

  /** A simple model of the operations, on maps and lists of JSON text. */
  function applyToModel(root: Tree, { path, ...operation }: AttributeOperation): string | undefined {
    let parent = root;
    for (const key of path.slice(0, -1)) {
      let child = parent.get(key);
      if (child === undefined) {
        if (operation.op === "delete" || operation.op === "remove") return undefined;
        parent.set(key, (child = new Map()));
      }
      if (!(child instanceof Map)) return "invalid_path";
      parent = child;
    }
    const key = path.at(-1) ?? "";
    const old = parent.get(key);
    if (operation.op === "delete") parent.delete(key);
    else if (operation.op === "set") parent.set(key, fromJson(JSON.parse(operation.valueJson)));
    else if (old !== undefined && !Array.isArray(old)) return "not_an_array";
    else if (operation.op === "remove") {
      if (old)
        parent.set(
          key,
          old.filter((item) => item !== operation.valueJson),
        );
    } else if (!old?.includes(operation.valueJson)) parent.set(key, [...(old ?? []), operation.valueJson]);
    return undefined;
  }

  function fromJson(value: unknown): Node {
    if (Array.isArray(value)) return value.map((item) => JSON.stringify(item));
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    return new Map(Object.entries(value).map(([key, child]) => [key, fromJson(child)]));
  }

  const key = fc.constantFrom("a", "b", "a.b", "__proto__", "constructor", "0");
  const path = fc.array(key, { minLength: 1, maxLength: 3 });
  const scalar = fc.constantFrom("1", '"x"', "null", "true");
  const value = fc.oneof(scalar, fc.constantFrom("{}", "[]", "[1]", '{"a":{}}', '{"b":[1,"x"]}', '{"__proto__":1}'));
  const anyOperation: fc.Arbitrary<AttributeOperation> = fc.oneof(
    fc.record({ op: fc.constant("set" as const), path, valueJson: value }),
    fc.record({ op: fc.constant("delete" as const), path }),
    fc.record({ op: fc.constantFrom("append_unique" as const, "remove" as const), path, valueJson: scalar }),
  );

  test("do in order what they say, and all or nothing", () => {
    fc.assert(
      fc.property(fc.array(anyOperation, { minLength: 1, maxLength: 12 }), (operations) => {
        const model: Tree = new Map();
        const failures = operations.map((operation) => applyToModel(model, operation));
        const failed = failures.findIndex((failure) => failure !== undefined);
        if (failed < 0) {
          const text = applyOperations("{}", operations);
          expect(fromJson(JSON.parse(text))).toEqual(model);
        } else {
          const error = { code: failures[failed], param: `attribute_operations.${failed}.path` };
          expect(() => applyOperations("{}", operations)).toThrow(expect.objectContaining(error));
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("values are the same when they are equal as JSON", () => {
    const list = '{"a":[{"x":1,"y":[100]}]}';
    const append = (valueJson: string): string =>
      applyOperations(list, [{ op: "append_unique", path: ["a"], valueJson }]);
    expect(append('{"y":[1e2],"x":1.0}')).toBe(list);
    expect(append('{"y":[100],"x":2}')).toBe('{"a":[{"x":1,"y":[100]},{"y":[100],"x":2}]}');
    expect(applyOperations('{"a":[1,2,1.0]}', [{ op: "remove", path: ["a"], valueJson: "1" }])).toBe('{"a":[2]}');
  });

  test("take numbers of any length without calculating with them", () => {
    const number = `1e${"9".repeat(100_000)}`;
    const append: AttributeOperation = { op: "append_unique", path: ["a"], valueJson: number };
    const text = applyOperations(
      "{}",
      Array.from({ length: 100 }, () => append),
    );
    expect(text).toBe(`{"a":[${number}]}`);
    // A run of zeros that does not end the number must be scanned once.
    const long = `1${"0".repeat(200_000)}1`;
    const remove: AttributeOperation = { op: "remove", path: ["a"], valueJson: long };
    const [one, other] = [{ ...remove, op: "append_unique" } as const, { ...remove, path: ["b"] }];
    expect(applyOperations(`{"a":[1],"b":[2]}`, [remove, one, other, one, remove, other])).toBe('{"a":[1],"b":[2]}');
    const longer: AttributeOperation = { ...remove, valueJson: `1${"0".repeat(256 * 1024)}` };
    expect(() => applyOperations('{"a":[1]}', [remove, longer])).toThrow(
      expect.objectContaining({ code: "parameter_invalid", param: "attribute_operations.1.value" }),
    );
  });

  test("what is removed and appended again stands at the end", () => {
    const on = (op: "append_unique" | "remove", valueJson: string): AttributeOperation => ({
      op,
      path: ["a"],
      valueJson,
    });
    const text = '{"a":[1,2,1,3]}';
    expect(applyOperations(text, [on("remove", "1"), on("append_unique", "1")])).toBe('{"a":[2,3,1]}');
    expect(applyOperations(text, [on("append_unique", "4"), on("remove", "4"), on("remove", "1")])).toBe('{"a":[2,3]}');
    const replaced: AttributeOperation = { op: "set", path: ["a"], valueJson: "[1]" };
    expect(applyOperations(text, [on("remove", "1"), replaced, on("append_unique", "1")])).toBe('{"a":[1]}');
  });

  test("a list that holds a value twice is left as it is when that is appended", () => {
    const text = '{"a":[1,1]}';
    expect(applyOperations(text, [{ op: "append_unique", path: ["a"], valueJson: "1" }])).toBe(text);
  });

  test("digits that a double has not are kept", () => {
    const text = applyOperations('{"a":12345678901234567890}', [{ op: "set", path: ["b", "c"], valueJson: "1e400" }]);
    expect(text).toBe('{"a":12345678901234567890,"b":{"c":1e400}}');
  });

  const deep = (levels: number): string => '{"a":'.repeat(levels) + "1" + "}".repeat(levels);
  const at = (length: number): string[] => Array.from({ length }, () => "k");
  test("nest at most 32 levels", () => {
    expect(JSON.parse(applyOperations("{}", [{ op: "set", path: at(32), valueJson: "1" }]))).toBeTypeOf("object");
    expect(JSON.parse(applyOperations("{}", [{ op: "set", path: at(2), valueJson: deep(30) }]))).toBeTypeOf("object");
    const cases: [AttributeOperation, string][] = [
      [{ op: "set", path: at(33), valueJson: "1" }, "path"],
      [{ op: "set", path: at(2), valueJson: deep(31) }, `value${".a".repeat(30)}`],
      [{ op: "append_unique", path: at(2), valueJson: deep(30) }, `value${".a".repeat(29)}`],
      [{ op: "append_unique", path: at(32), valueJson: "1" }, "path"],
      [{ op: "append_unique", path: at(31), valueJson: "[]" }, "value"],
    ];
    for (const [operation, param] of cases) {
      const error = { code: "parameter_invalid", param: `attribute_operations.0.${param}` };
      expect(() => applyOperations("{}", [operation])).toThrow(expect.objectContaining(error));
    }
  });

  test("are at most 1,000, and what they make is at most 256 KiB", () => {
    const operation: AttributeOperation = { op: "set", path: ["a"], valueJson: "1" };
    expect(
      applyOperations(
        "{}",
        Array.from({ length: 1000 }, () => operation),
      ),
    ).toBe('{"a":1}');
    expect(() =>
      applyOperations(
        "{}",
        Array.from({ length: 1001 }, () => operation),
      ),
    ).toThrow(expect.objectContaining({ code: "too_many_items", param: "attribute_operations" }));
    const large: AttributeOperation = {
      op: "append_unique",
      path: ["a"],
      valueJson: JSON.stringify("x".repeat(10_000)),
    };
    const list = JSON.stringify({ a: Array.from({ length: 25 }, (_, index) => `${index}${"x".repeat(10_000)}`) });
    expect(() => applyOperations(list, [large, { ...large, path: ["b"] }])).toThrow(
      expect.objectContaining({ code: "parameter_invalid", param: "attribute_operations" }),
    );
  });
});

describe("changes one after the other", () => {
  const key = fc.constantFrom("a", "b", "0", "10", "2", "-1", "01", "4294967294", "4294967295", "__proto__", "");
  const patch = fc.dictionary(key, fc.jsonValue({ maxDepth: 2 })).map((value) => JSON.stringify(value));
  const valueJson = fc.constantFrom("1", "2", '"x"', "{}", "[1,2]", '{"a":1}', '{"a":[1]}', "null");
  const path = fc.array(key, { minLength: 1, maxLength: 2 });
  const operation: fc.Arbitrary<AttributeOperation> = fc.oneof(
    fc.record({ op: fc.constant("delete" as const), path }),
    fc.record({ op: fc.constantFrom("set" as const, "append_unique" as const, "remove" as const), path, valueJson }),
  );
  const change = fc.record({
    patch: fc.option(patch, { nil: undefined }),
    operations: fc.array(operation, { maxLength: 4 }),
  });

  /** The error, if the change is refused. */
  function attempt(
    attributes: Attributes,
    { patch: some, operations }: { patch: string | undefined; operations: AttributeOperation[] },
  ) {
    try {
      changed(attributes, some, operations);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  test("are looked at no further than the faults that an answer lists, and counted before anything is read", () => {
    const bad = { op: "append_unique" as const, path: ["a"], valueJson: "{" };
    const faults: FieldError[] = [];
    new Attributes("{}").change(
      undefined,
      Array.from({ length: 1_000 }, () => bad),
      faults,
    );
    expect(faults.length).toBe(fieldErrorsMax);
    const tooMany: FieldError[] = [];
    new Attributes("{}").change(
      "no JSON",
      Array.from({ length: 1_001 }, () => bad),
      tooMany,
    );
    expect(tooMany.map(({ code }) => code)).toEqual(["too_many_items"]);
  });

  test("come to the same as each by itself, whichever of them are refused", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
        const together = new Attributes("{}");
        let text = "{}";
        for (const one of changes) {
          const alone = new Attributes(text);
          expect(attempt(together, one)).toEqual(attempt(alone, one));
          expect(together.text).toBe(alone.text);
          // Exactly the key order of a JavaScript object.
          expect(together.text).toBe(JSON.stringify(JSON.parse(alone.text)));
          text = alone.text;
        }
      }),
      { seed: 20_261_121, numRuns: 2_000 },
    );
  });
});
