/** Numbers of JSON as exact decimal text, and back: no binary fraction on the way. */
import { isRawNumber, parseJson } from "#shared/json/json.ts";

const pattern = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/;
// What a value of an event can hold.
const wholeDigitsMax = 18;
const fractionDigitsMax = 8;

/**
 * The decimal text of a number as it stood in a body, or of such a text: `1e14` is `100000000000000`. Digits past the eighth behind the point are
 * rounded away, half up: they are there only where a binary fraction was written out.
 * @returns undefined for what is no number, or has more than 18 digits before the point.
 */
export function toDecimal(value: unknown): string | undefined {
  const isNumber = typeof value === "number" || isRawNumber(value);
  const match = pattern.exec(isNumber ? JSON.stringify(value) : typeof value === "string" ? value.trim() : "");
  if (!match) return undefined;
  const [, sign = "", whole = "", fraction = "", exponentText = "0"] = match;
  const exponent = Number(exponentText);
  const digits = (whole + fraction).replace(/^0+/, "");
  if (digits === "") return "0";
  // How many of the digits stand before the point.
  const point = digits.length - fraction.length + exponent;
  if (point > wholeDigitsMax) return undefined;
  const rounded = round(digits, point);
  return sign === "-" && /[1-9]/.test(rounded) ? `-${rounded}` : rounded;
}

/** Writes digits with a point, as many of them behind it as fit. */
function round(digits: string, point: number): string {
  const kept = point + fractionDigitsMax;
  if (kept < 0) return "0";
  let scaled = BigInt(digits.slice(0, kept).padEnd(kept, "0") || "0");
  if ((digits[kept] ?? "0") >= "5") scaled += 1n;
  const text = scaled.toString().padStart(fractionDigitsMax + 1, "0");
  const fraction = text.slice(-fractionDigitsMax).replace(/0+$/, "");
  return text.slice(0, -fractionDigitsMax) + (fraction === "" ? "" : `.${fraction}`);
}

/** A decimal text as a number of JSON, with all its digits. */
export function toNumber(decimal: string): unknown {
  return parseJson(decimal);
}
