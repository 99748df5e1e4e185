/** Validates bodies against their schemas and reports faults with JSON pointers. */
import type Type from "typebox";
import { Compile } from "typebox/compile";
import { fieldErrorsOf } from "../validation.ts";
import { coerce } from "./coercion.ts";
import { Faults, pointerTo } from "./faults.ts";

export interface Checker<T> {
  schema: Type.TSchema;
  /**
   * Whether a value is valid after coercion (coercion.ts), which changes it in place. Adds its faults.
   * @param pointer of the value.
   */
  check(value: unknown, faults: Faults, pointer: string): value is T;
  /** @throws Refusal with every fault. */
  read(this: void, value: unknown): T;
}

const resourceNames: readonly [RegExp, string][] = [
  [/\/location$/, "location"],
  [/\/profile\/data\/attributes$|\/profiles\/data\/\d+\/attributes$/, "profile"],
  [/\/meta\//, "meta"],
];

const errorsPerFaultMax = 4;

/** @param resource name for messages. */
export function createChecker<Schema extends Type.TSchema>(
  schema: Schema,
  resource: string,
): Checker<Type.Static<Schema>> {
  const validator = Compile(schema);
  const checker: Checker<Type.Static<Schema>> = {
    schema,
    check(value, faults, pointer): value is Type.Static<Schema> {
      coerce(schema, value);
      if (validator.Check(value)) return true;
      if (faults.isBrief) {
        faults.add(
          pointer,
          `This is not a valid ${resource}. Where many entries are bad, the later ones are told in brief.`,
        );
        return false;
      }
      // One invalid field may give several errors.
      const errors = validator.Errors(value).slice(0, errorsPerFaultMax * faults.room);
      for (const { code, message, path } of fieldErrorsOf(value, errors)) {
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
