/** Amounts: decimal text all the way, never a binary fraction. */
import type { FieldError } from "#shared/errors.ts";

/** A decimal number without leading zeros, and three upper-case letters. */
export interface Money {
  value: string;
  currency: string;
}

const valuePattern = /^(-?)(\d{1,18}(?:\.\d{1,8})?)$/;
const currencyPattern = /^[A-Za-z]{3}$/;

/** Reads an amount. Both parts or neither must be there. */
export function readMoney(
  value: string | undefined,
  currency: string | undefined,
): { money: Money | undefined } | { errors: FieldError[] } {
  if (value === undefined && currency === undefined) return { money: undefined };
  const errors: FieldError[] = [];
  const match = valuePattern.exec(value ?? "");
  if (value === undefined) {
    errors.push({ code: "parameter_missing", message: "A currency is sent with a value.", param: "value" });
  } else if (!match) {
    const message = "A value is a decimal number as text: up to 18 digits, and up to 8 behind a point.";
    errors.push({ code: "parameter_invalid", message, param: "value" });
  }
  if (currency === undefined) {
    errors.push({ code: "parameter_missing", message: "A value is sent with a currency.", param: "currency" });
  } else if (!currencyPattern.test(currency)) {
    errors.push({ code: "parameter_invalid", message: "A currency is three letters, such as EUR.", param: "currency" });
  }
  if (errors.length > 0 || !match || currency === undefined) return { errors };
  const digits = (match[2] as string).replace(/^0+(?=\d)/, "");
  const sign = match[1] === "-" && /[1-9]/.test(digits) ? "-" : "";
  return { money: { value: sign + digits, currency: currency.toUpperCase() } };
}
