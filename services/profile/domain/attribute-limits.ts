/** What attributes may be, and what is wrong with those that may not be. */
import type { FieldError } from "#shared/values/errors.ts";
import { parseJson } from "#shared/json/json.ts";
import { findSizeFault } from "#shared/values/json-fields.ts";
import { quoteName } from "#shared/values/wording.ts";

/** Reads JSON text of a caller. @returns undefined, which is no JSON, for what is none: then `faults` has why. */
export function readJson(text: string, param: string, faults: FieldError[]): unknown {
  try {
    return parseJson(text);
  } catch {
    faults.push({ code: "parameter_invalid", message: `${quoteName(param)} must be JSON.`, param });
    return undefined;
  }
}

/** What is wrong with the length of all attributes of a profile. @param param names what made them too large. */
export function findTotalSizeFault(text: string, param: string): FieldError | undefined {
  const fault = findSizeFault(text, param);
  return fault && { ...fault, message: `${fault.message} The limit is that of all attributes of a profile together.` };
}
