/** Rules of the parts of attribute operations. */
import type { FieldError } from "./errors.ts";
import { textProblem } from "../json/json.ts";
import { jsonFieldLimits } from "./json-fields.ts";
import { count } from "./count.ts";
import { listed, missing, quoteName } from "./wording.ts";

export const attributeOperators = ["set", "delete", "append_unique", "remove"] as const;

/** The expected form of a path, for messages. */
export const pathExpected =
  `a key such as "plan", or a list of 1 to ${jsonFieldLimits.depthMax} keys from the top down ` +
  `such as ["address", "city"]`;

/** The fault of an operation without an operator. */
export function missingOp(param: string): FieldError {
  return missing(
    param,
    `send one of ${listed(
      attributeOperators.map((name) => `"${name}"`),
      "or",
    )}`,
  );
}

/** Finds the fault of an operation whose value is missing or superfluous. @param param the name of the value. */
export function findValuePresenceFault(op: string, hasValue: boolean, param: string): FieldError | undefined {
  if (op === "delete") {
    const message = `${quoteName(param)} must be left out: the operation "delete" takes no value.`;
    return hasValue ? { code: "parameter_conflict", message, param } : undefined;
  }
  return hasValue ? undefined : missing(param, `the operation "${op}" takes a value, which may be any JSON`);
}

/** The levels of the attributes that an operation uses: each key of its path, and the array to which it appends. */
export function levelsOf(op: string, path: readonly string[]): number {
  return path.length + (op === "append_unique" ? 1 : 0);
}

/** Finds the fault of a path. */
export function findPathFault(op: string, path: readonly string[], param: string): FieldError | undefined {
  if (path.length === 0) return missing(param, `send ${pathExpected}`);
  const levels = levelsOf(op, path);
  if (levels > jsonFieldLimits.depthMax) {
    const rule = `must lead to at most level ${jsonFieldLimits.depthMax} of the attributes`;
    const message = `${quoteName(param)} ${rule}; got ${count(levels)} levels.`;
    return { code: "parameter_invalid", message, param };
  }
  const problem = path.map(textProblem).find((reason) => reason !== undefined);
  if (problem === undefined) return undefined;
  return { code: "parameter_invalid", message: `${quoteName(param)} has a key that ${problem}.`, param };
}
