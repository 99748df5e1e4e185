/** Names of properties, keys and apps. */
import { DaybookError, type FieldError } from "#shared/values/errors.ts";
import { textProblem } from "#shared/json/json.ts";

const nameLengthMax = 255;

/** The fault of the name of a property, key or app. */
export function nameFault(name: string): FieldError | undefined {
  if (name.length <= nameLengthMax && name.trim() !== "" && textProblem(name) === undefined) return undefined;
  return { code: "parameter_invalid", message: `A name has 1 to ${nameLengthMax} characters.`, param: "name" };
}

/**
 * Validates the name of a property or key.
 * @throws DaybookError `parameter_invalid`
 */
export function checkName(name: string): void {
  const fault = nameFault(name);
  if (fault) throw DaybookError.ofFields([fault]);
}
