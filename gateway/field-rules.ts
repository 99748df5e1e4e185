/** What a schema cannot say of a field: what it holds in words, and rules about its content. They stand at the schemas, under `rule`. */
import type { FieldError } from "#shared/values/errors.ts";
import type { JsonObject, JsonValue } from "#shared/json/json.ts";

/** Marks a field of a schema that goes on as JSON text, or that is read by a reader of its own: only its rule looks at its content. */
export const opaque = "x-opaque";

/** Limits that stand in the document only, under this name: rules check them together with what else they find in a field. */
export const documented = "x-documented";

/** The key that a rule stands under in a schema. The document does not have it. */
export const rule = Symbol("rule");

/** What a field holds beyond what its schema says. */
export interface Rule {
  /** What is expected, with an example, as the end of a sentence: `a decimal string such as "49.90"`. */
  expected?: string;
  /** Whether messages may show what came. Never of a field that says who somebody is. */
  quoted?: true;
  /**
   * Looks at the content of a field.
   * @param param its dotted path from the root of the body.
   * @returns every fault, in any order.
   */
  check?(value: JsonValue, param: string): readonly FieldError[];
}

/** The rule of a text. */
export function textRule(
  expected: string,
  find: (text: string, param: string) => FieldError | undefined,
  options: Pick<Rule, "quoted"> = {},
): { [rule]: Rule } {
  return {
    [rule]: {
      expected,
      ...options,
      check(value, param) {
        const fault = typeof value === "string" ? find(value, param) : undefined;
        return fault ? [fault] : [];
      },
    },
  };
}

/** The rule of an object, about fields that depend on each other. Fields of another shape than theirs are for it as if they were not there. */
export function objectRule(check: (value: JsonObject, param: string) => readonly FieldError[], expected?: string) {
  return {
    [rule]: {
      ...(expected === undefined ? {} : { expected }),
      check: (value: JsonValue, param: string) => check(value as JsonObject, param),
    } satisfies Rule,
  };
}

/** The rule of a list. */
export function listRule(check: (value: readonly JsonValue[], param: string) => readonly FieldError[]) {
  return {
    [rule]: { check: (value: JsonValue, param: string) => check(value as JsonValue[], param) } satisfies Rule,
  };
}
