/** Converts JSON numbers to exact decimal text and back, without binary fractions. */
import { isRawNumber, parseJson } from "#shared/json/json.ts";

const pattern = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/;
// Limits of an event's value.
const wholeDigitsMax = 18;
const fractionDigitsMax = 8;

/**
 * The decimal text of a JSON number or numeric string: `1e14` is `100000000000000`. Digits past the eighth decimal are
 * rounded half away from zero; only clients that print binary fractions send them.
 * @returns undefined if it is no number, or has more than 18 digits before the point.
 */
export function toDecimal(value: unknown): string | undefined {
  const isNumber = typeof value === "number" || isRawNumber(value);
  const match = pattern.exec(isNumber ? JSON.stringify(value) : typeof value === "string" ? value.trim() : "");
  if (!match) return undefined;
  const [, sign = "", whole = "", fraction = "", exponentText = "0"] = match;
  const exponent = Number(exponentText);
  const digits = (whole + fraction).replace(/^0+/, "");
  if (digits === "") return "0";
  // Number of digits before the point.
  const point = digits.length - fraction.length + exponent;
  if (point > wholeDigitsMax) return undefined;
  const rounded = round(digits, point);
  return sign === "-" && /[1-9]/.test(rounded) ? `-${rounded}` : rounded;
}

/** Rounds to fractionDigitsMax decimals. */
function round(digits: string, point: number): string {
  const kept = point + fractionDigitsMax;
  if (kept < 0) return "0";
  let scaled = BigInt(digits.slice(0, kept).padEnd(kept, "0") || "0");
  if ((digits[kept] ?? "0") >= "5") scaled += 1n;
  const text = scaled.toString().padStart(fractionDigitsMax + 1, "0");
  const fraction = text.slice(-fractionDigitsMax).replace(/0+$/, "");
  return text.slice(0, -fractionDigitsMax) + (fraction === "" ? "" : `.${fraction}`);
}

/** A decimal text as a JSON number with all its digits. */
export function toNumber(decimal: string): unknown {
  return parseJson(decimal);
}
