/** Amounts: always decimal text, never binary fractions. */
import type { FieldError } from "./errors.ts";
import { mismatch, missing } from "./wording.ts";

/** A decimal number without superfluous leading zeros, and a currency of three upper-case letters. */
export interface Money {
  value: string;
  currency: string;
}

const valuePattern = /^(-?)(\d{1,18}(?:\.\d{1,8})?)$/;

/** Whether a text is three letters, in either case. */
export function isCurrency(text: string): boolean {
  return /^[A-Za-z]{3}$/.test(text);
}

/** The expected form of the fields of an amount, for messages. */
export const moneyExpected = {
  value: 'a decimal string such as "49.90", with up to 18 digits and up to 8 more behind a point',
  currency: 'a currency code of three letters such as "EUR"',
} as const;

/** Parses an amount. Both parts or neither must be present. */
export function readMoney(
  value: string | undefined,
  currency: string | undefined,
): { money: Money | undefined } | { errors: FieldError[] } {
  if (value === undefined && currency === undefined) return { money: undefined };
  const errors: FieldError[] = [];
  const match = valuePattern.exec(value ?? "");
  if (value === undefined) {
    errors.push(missing("value", `an amount is sent with its currency. Send ${moneyExpected.value}`));
  } else if (!match) errors.push(mismatch("value", moneyExpected.value, value, { quoted: true }));
  if (currency === undefined) {
    errors.push(missing("currency", `an amount is sent with its currency. Send ${moneyExpected.currency}`));
  } else if (!isCurrency(currency)) {
    errors.push(mismatch("currency", moneyExpected.currency, currency, { quoted: true }));
  }
  if (errors.length > 0 || !match || currency === undefined) return { errors };
  const digits = (match[2] as string).replace(/^0+(?=\d)/, "");
  const sign = match[1] === "-" && /[1-9]/.test(digits) ? "-" : "";
  return { money: { value: sign + digits, currency: currency.toUpperCase() } };
}
