/** Limits of attributes. */
import type { FieldError } from "#shared/values/errors.ts";
import { parseJson } from "#shared/json/json.ts";
import { findSizeFault } from "#shared/values/json-fields.ts";
import { quoteName } from "#shared/values/wording.ts";

/** Parses JSON text of a caller. @returns undefined if it is not JSON, with the reason in `faults`. */
export function readJson(text: string, param: string, faults: FieldError[]): unknown {
  try {
    return parseJson(text);
  } catch {
    faults.push({ code: "parameter_invalid", message: `${quoteName(param)} must be JSON.`, param });
    return undefined;
  }
}

/** The fault of attributes that are too large together, if any. @param param names what made them too large. */
export function findTotalSizeFault(text: string, param: string): FieldError | undefined {
  const fault = findSizeFault(text, param);
  return fault && { ...fault, message: `${fault.message} The limit is that of all attributes of a profile together.` };
}
