/** Validates descriptions of metrics. */
import type { FieldError } from "#shared/values/errors.ts";
import { findShortTextFault } from "#shared/values/event.ts";

const lengthMax = 1000;

/** The fault of a description, if any. */
export function descriptionProblem(text: string | undefined): FieldError | undefined {
  return text === undefined ? undefined : findShortTextFault(text, lengthMax, "description");
}
