/** Checks bodies against their schemas, and says what is wrong with JSON pointers. */
import type Type from "typebox";
import { Compile } from "typebox/compile";
import { fieldErrorsOf } from "../validation.ts";
import { Faults, pointerTo } from "./faults.ts";

/** Checks values against a schema. */
export interface Checker<T> {
  /** Whether a value is good; what is wrong with it is noted. @param pointer where it stands. */
  check(value: unknown, faults: Faults, pointer: string): value is T;
  /** @throws Refusal with all that is wrong. */
  read(value: unknown): T;
}

const resourceNames: readonly [RegExp, string][] = [
  [/\/location$/, "location"],
  [/\/profile\/data\/attributes$|\/profiles\/data\/\d+\/attributes$/, "profile"],
  [/\/meta\//, "meta"],
];

/** @param resource what its attributes are of, in words of clients. */
export function createChecker<Schema extends Type.TSchema>(
  schema: Schema,
  resource: string,
): Checker<Type.Static<Schema>> {
  const validator = Compile(schema);
  const checker: Checker<Type.Static<Schema>> = {
    check(value, faults, pointer): value is Type.Static<Schema> {
      if (validator.Check(value)) return true;
      for (const { code, message, path } of fieldErrorsOf(value, validator.Errors(value))) {
        const at = pointer + pointerTo(path);
        const parent = pointer + pointerTo(path.slice(0, -1));
        const name = resourceNames.find(([pattern]) => pattern.test(parent))?.[1] ?? resource;
        const detail =
          code === "parameter_unknown" ? `'${path.at(-1)}' is not a valid field for the resource '${name}'.` : message;
        faults.add(at === "" ? "/data" : at, detail, code);
      }
      return false;
    },
    read(value) {
      const faults = new Faults();
      if (!checker.check(value, faults, "")) faults.check();
      return value as Type.Static<Schema>;
    },
  };
  return checker;
}
