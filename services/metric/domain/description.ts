/** Descriptions of metrics, for people. */
import type { FieldError } from "#shared/errors.ts";
import { textProblem } from "#shared/json.ts";

const lengthMax = 1000;

/** What is wrong with a description, if anything is. */
export function descriptionProblem(text: string | undefined): FieldError | undefined {
  if (text === undefined) return undefined;
  const reason = textProblem(text);
  const length = Array.from(text).length;
  if (reason === undefined && length > 0 && length <= lengthMax) return undefined;
  const message =
    reason === undefined ? `A description has 1 to ${lengthMax} characters.` : `The description ${reason}.`;
  return { code: "parameter_invalid", message, param: "description" };
}
