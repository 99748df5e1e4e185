/** Numbers as people read them, from decimal text and bigint: nothing passes through a floating-point number. */

type Exact = bigint | string;

// Intl formats decimal text exactly; its type wants proof that the text is a number.
const exact = (value: Exact): bigint | `${number}` => value as bigint | `${number}`;
const isDecimal = (text: string): boolean => /^-?\d+(?:\.\d+)?$/.test(text);

// A format is costly to make, and Live draws hundreds of numbers at once.
const count = new Intl.NumberFormat();
const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const amounts = new Map<string, Intl.NumberFormat>();

/** 1,234,567. A number is a count that never was more than 32 bits. */
export function formatCount(value: Exact | number): string {
  const given = typeof value === "number" ? BigInt(Math.trunc(value)) : value;
  if (typeof given === "string" && !isDecimal(given)) return given;
  return count.format(exact(given));
}

/** 1.2M, for headings of charts, beside the exact figure. */
export function formatCompact(value: Exact): string {
  if (typeof value === "string" && !isDecimal(value)) return value;
  return compact.format(exact(value));
}

/** €1,234.50: all digits that the text has, at least those that the currency has. */
export function formatAmount(value: string, currency?: string): string {
  if (!isDecimal(value)) return currency === undefined ? value : `${value} ${currency}`;
  const digits = value.split(".")[1]?.length ?? 0;
  const code = currency !== undefined && /^[A-Z]{3}$/.test(currency) ? currency : undefined;
  const key = `${code ?? ""} ${digits}`;
  const format = amounts.get(key) ?? amountFormat(code, digits);
  amounts.set(key, format);
  return format.format(exact(value));
}

function amountFormat(currency: string | undefined, digits: number): Intl.NumberFormat {
  const style = currency === undefined ? {} : { style: "currency" as const, currency };
  const { maximumFractionDigits: usual = 0, minimumFractionDigits: least = 0 } = new Intl.NumberFormat(
    undefined,
    style,
  ).resolvedOptions();
  return new Intl.NumberFormat(undefined, {
    ...style,
    currencyDisplay: "narrowSymbol",
    minimumFractionDigits: currency === undefined ? 0 : least,
    maximumFractionDigits: Math.min(100, Math.max(usual, digits)),
  });
}
