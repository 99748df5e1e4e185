/** What attributes may be, and the refusal of what they may not be. */
import { DaybookError, type ErrorCode } from "#shared/values/errors.ts";
import { parseJson } from "#shared/json/json.ts";
import { findSizeFault } from "#shared/values/json-fields.ts";
import { quoteName } from "#shared/values/wording.ts";

/** Reads JSON text of a caller. @throws DaybookError `parameter_invalid` with `param`. */
export function parse(text: string, param: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw refuse("parameter_invalid", `${quoteName(param)} must be JSON.`, param, error);
  }
}

/**
 * Checks the length of all attributes of a profile.
 * @param param names what made them too large, if they are.
 * @throws DaybookError `parameter_invalid`
 */
export function checkBytes(text: string, param: string): void {
  const tooLarge = findSizeFault(text, param);
  if (!tooLarge) return;
  const message = `${tooLarge.message} The limit is that of all attributes of a profile together.`;
  throw refuse("parameter_invalid", message, param);
}

/** An error of a field. */
export function refuse(code: ErrorCode, message: string, param: string, cause?: unknown): DaybookError {
  return new DaybookError(code, message, { param, cause });
}
