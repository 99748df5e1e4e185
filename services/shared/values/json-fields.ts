/** JSON objects that callers fill as they like: the properties of events and the attributes of profiles. */
import { fieldErrorsMax, type FieldError } from "./errors.ts";
import { findJsonProblems, tooDeepReason } from "../json/json.ts";
import { count } from "./count.ts";
import { joinParam, quoteName } from "./wording.ts";

/** Limits of such an object. */
export const jsonFieldLimits = { bytesMax: 256 * 1024, depthMax: 32 } as const;

/** The fault of an object that is too large, if it is. @param json its text. */
export function findSizeFault(json: string, param: string): FieldError | undefined {
  const bytes = Buffer.byteLength(json);
  if (bytes <= jsonFieldLimits.bytesMax) return undefined;
  const message = `${quoteName(param)} must take at most ${jsonFieldLimits.bytesMax / 1024} KiB as JSON; got ${count(Math.ceil(bytes / 1024))} KiB.`;
  return { code: "parameter_invalid", message, param };
}

/** What is wrong within such an object: nesting, and texts that cannot be kept. At most 20. @param levels that are taken above it. */
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
