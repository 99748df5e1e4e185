/**
 * The words of messages about fields: which one, what was expected, what came. What came is quoted only where a field holds nothing personal,
 * and short, because clients log messages.
 */
import type { FieldError } from "./errors.ts";
import { isRawNumber } from "../json/json.ts";
import { count } from "./count.ts";

const nameLengthMax = 80;
const quotedLengthMax = 40;
const keyLengthMax = 255;

/** A field or parameter as messages name it. */
export function quoteName(name: string): string {
  return `\`${shorten(name, nameLengthMax)}\``;
}

/** The dotted path of a key or index of a field. A key that is longer than any name is cut: an answer repeats it for each fault within. */
export function joinParam(parent: string, key: string): string {
  const name = shorten(key, keyLengthMax);
  return parent === "" ? name : `${parent}.${name}`;
}

/** A text that is cut when it is longer than so many UTF-16 units. */
export function shorten(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1)}…`;
}

/**
 * What a caller sent, in words.
 * @param quoted whether texts and numbers are shown: only where the field cannot hold personal data.
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
  // An address may stand anywhere by mistake.
  if (quoted && text.length <= quotedLengthMax && !text.includes("@")) return JSON.stringify(text);
  return text.length === 1 ? "a text of 1 character" : `a text of ${count(text.length)} characters`;
}

/** Words joined as a list: `a, b or c`. */
export function listed(words: readonly string[], conjunction: "and" | "or"): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} ${conjunction} ${words.at(-1)}`;
}

/** The fault of a field that holds something else than is expected. */
export function mismatch(
  param: string,
  expected: string,
  value: unknown,
  options: { code?: FieldError["code"]; quoted?: boolean } = {},
): FieldError {
  const message = `${quoteName(param)} must be ${expected}; got ${whatCame(value, options.quoted)}.`;
  return { code: options.code ?? "parameter_invalid", message, param };
}

/** The fault of a field that is not there. */
export function missing(param: string, expected: string): FieldError {
  return { code: "parameter_missing", message: `${quoteName(param)} is required: ${expected}.`, param };
}

/** The fault of a text that cannot be kept. @param reason see textProblem. */
export function unkeepable(param: string, reason: string): FieldError {
  return { code: "parameter_invalid", message: `${quoteName(param)} ${reason}.`, param };
}
