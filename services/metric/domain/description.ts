/** Descriptions of metrics, for people. */
import type { FieldError } from "#shared/values/errors.ts";
import { findShortTextFault } from "#shared/values/event.ts";

const lengthMax = 1000;

/** What is wrong with a description, if anything is. */
export function descriptionProblem(text: string | undefined): FieldError | undefined {
  return text === undefined ? undefined : findShortTextFault(text, lengthMax, "description");
}
