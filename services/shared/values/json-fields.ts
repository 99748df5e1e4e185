/** JSON objects with content of the caller's choice: event properties and profile attributes. */
import { fieldErrorsMax, type FieldError } from "./errors.ts";
import { findJsonProblems, tooDeepReason } from "../json/json.ts";
import { count } from "./count.ts";
import { joinParam, quoteName } from "./wording.ts";

export const jsonFieldLimits = { bytesMax: 256 * 1024, depthMax: 32 } as const;

/** Finds the fault of an object that is too large. @param json its text. */
export function findSizeFault(json: string, param: string): FieldError | undefined {
  const bytes = Buffer.byteLength(json);
  if (bytes <= jsonFieldLimits.bytesMax) return undefined;
  const rule = `must take at most ${jsonFieldLimits.bytesMax / 1024} KiB as JSON`;
  const message = `${quoteName(param)} ${rule}; got ${count(Math.ceil(bytes / 1024))} KiB.`;
  return { code: "parameter_invalid", message, param };
}

/** Finds at most 20 faults in an object: depth, and texts that cannot be stored. @param levels used up above it. */
export function findContentFaults(value: unknown, param: string, levels = 0): FieldError[] {
  const { depthMax } = jsonFieldLimits;
  return findJsonProblems(value, depthMax - levels, fieldErrorsMax).map(({ path, reason }) => {
    const place = path.reduce(joinParam, param);
    const isTooDeep = reason === tooDeepReason;
    const limit = levels > 0 ? `${depthMax} levels, ${levels} of them by the path` : `${depthMax} levels`;
    const message = isTooDeep ? `is nested too deep: at most ${limit}` : reason;
    return { code: "parameter_invalid", message: `${quoteName(place)} ${message}.`, param: place };
  });
}
