import { DaybookError } from "#shared/values/errors.ts";
import { textProblem } from "#shared/json/json.ts";

const nameLengthMax = 255;

/**
 * Validates the name of a property or key.
 * @throws DaybookError `parameter_invalid`
 */
export function checkName(name: string): void {
  if (name.trim() === "" || name.length > nameLengthMax || textProblem(name) !== undefined) {
    throw new DaybookError("parameter_invalid", `A name has 1 to ${nameLengthMax} characters.`, { param: "name" });
  }
}
