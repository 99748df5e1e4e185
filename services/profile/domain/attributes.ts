/** Custom attributes of a profile: a JSON object, kept as text. */
import { DaybookError } from "#shared/errors.ts";
import { findJsonProblem, isJsonObject, parseJson } from "#shared/json.ts";

const attributesBytesMax = 256 * 1024;
const attributesDepthMax = 32;

/**
 * Replaces whole top-level keys.
 * @param current the text of a JSON object.
 * @param patch the text of another; its keys win.
 * @throws DaybookError `parameter_invalid` when the patch or the result cannot be kept.
 */
export function mergeAttributes(current: string, patch: string): string {
  const changes = parseAttributes(patch);
  // Pairs, so that a key named __proto__ is a key like any other.
  const merged = new Map([...Object.entries(parseJson(current) as object), ...Object.entries(changes)]);
  const text = JSON.stringify(Object.fromEntries(merged));
  if (Buffer.byteLength(text) > attributesBytesMax) {
    throw invalid(`The attributes of a profile take at most ${attributesBytesMax / 1024} KiB together.`);
  }
  return text;
}

function parseAttributes(text: string): object {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw invalid("The attributes are not JSON.", error);
  }
  if (!isJsonObject(value)) throw invalid("The attributes are not a JSON object.");
  const problem = findJsonProblem(value, attributesDepthMax);
  if (problem) {
    throw new DaybookError("parameter_invalid", `This attribute ${problem.reason}.`, {
      param: ["attributes", ...problem.path].join("."),
    });
  }
  return value;
}

function invalid(message: string, cause?: unknown): DaybookError {
  return new DaybookError("parameter_invalid", message, { param: "attributes", cause });
}
