/**
 * Rules that a JSON schema cannot express: the expected content in words, and checks of it. Schemas hold them under
 * `rule`.
 */
import type { FieldError } from "#shared/values/errors.ts";
import type { JsonObject, JsonValue } from "#shared/json/json.ts";

/** Marks a field that is passed on as JSON text or has its own reader: only its rule checks the content. */
export const opaque = "x-opaque";

/** Limits for the OpenAPI document only. The rule checks them together with the rest of a field. */
export const documented = "x-documented";

/** The key of a rule in a schema. The OpenAPI document omits it. */
export const rule = Symbol("rule");

export interface Rule {
  /** The expected content with an example, as the end of a sentence: `a decimal string such as "49.90"`. */
  expected?: string;
  /** Whether messages may echo the value. Never for a field that identifies a person. */
  quoted?: true;
  /**
   * @param param the dotted path of the field from the root of the body.
   * @returns every fault, in any order.
   */
  check?(value: JsonValue, param: string): readonly FieldError[];
}

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

/** A rule about fields that depend on each other. `check` must treat fields of the wrong type as absent. */
export function objectRule(check: (value: JsonObject, param: string) => readonly FieldError[], expected?: string) {
  return {
    [rule]: {
      ...(expected === undefined ? {} : { expected }),
      check: (value: JsonValue, param: string) => check(value as JsonObject, param),
    } satisfies Rule,
  };
}

export function listRule(check: (value: readonly JsonValue[], param: string) => readonly FieldError[]) {
  return {
    [rule]: { check: (value: JsonValue, param: string) => check(value as JsonValue[], param) } satisfies Rule,
  };
}
