/**
 * The wording of messages about fields: the field, what was expected, and what came. Values are quoted only for fields
 * without personal data, and shortened, because clients log messages.
 */
import type { FieldError } from "./errors.ts";
import { isRawNumber } from "../json/json.ts";
import { count } from "./count.ts";

const nameLengthMax = 80;
const quotedLengthMax = 40;
const keyLengthMax = 255;

/** Quotes a field or parameter for a message. */
export function quoteName(name: string): string {
  return `\`${shorten(name, nameLengthMax)}\``;
}

/** Appends a key or index to a dotted path. Long keys are cut, because each fault within repeats them. */
export function joinParam(parent: string, key: string): string {
  const name = shorten(key, keyLengthMax);
  return parent === "" ? name : `${parent}.${name}`;
}

/** Cuts a text to at most `lengthMax` UTF-16 units. */
export function shorten(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1)}…`;
}

/**
 * Describes a value that a caller sent.
 * @param quoted whether to quote texts and numbers: only for fields without personal data.
 */
export function whatCame(value: unknown, quoted = false): string {
  if (value === undefined) return "nothing";
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return quoteText(value, quoted);
  if (typeof value === "number" || isRawNumber(value)) {
    return quoted ? `the number ${shorten(JSON.stringify(value), quotedLengthMax)}` : "a number";
  }
  if (!Array.isArray(value)) return "an object";
  if (value.length === 0) return "an empty list";
  return value.length === 1 ? "a list of 1 item" : `a list of ${count(value.length)} items`;
}

function quoteText(text: string, quoted: boolean): string {
  if (text === "") return "an empty text";
  // An email address may be in any field by mistake.
  if (quoted && text.length <= quotedLengthMax && !text.includes("@")) return JSON.stringify(text);
  return text.length === 1 ? "a text of 1 character" : `a text of ${count(text.length)} characters`;
}

/** Joins words as `a, b or c`. */
export function listed(words: readonly string[], conjunction: "and" | "or"): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} ${conjunction} ${words.at(-1)}`;
}

/** The fault of a field with another value than expected. */
export function mismatch(
  param: string,
  expected: string,
  value: unknown,
  options: { code?: FieldError["code"]; quoted?: boolean } = {},
): FieldError {
  const message = `${quoteName(param)} must be ${expected}; got ${whatCame(value, options.quoted)}.`;
  return { code: options.code ?? "parameter_invalid", message, param };
}

/** The fault of a missing field. */
export function missing(param: string, expected: string): FieldError {
  return { code: "parameter_missing", message: `${quoteName(param)} is required: ${expected}.`, param };
}

/** The fault of a text that cannot be stored. @param reason see textProblem. */
export function unkeepable(param: string, reason: string): FieldError {
  return { code: "parameter_invalid", message: `${quoteName(param)} ${reason}.`, param };
}
