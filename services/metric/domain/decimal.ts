/** Exact decimal sums of any size. A sum has as many decimals as the summand with the most. */

/** `units` times ten to the power of `-scale`. */
export interface Decimal {
  units: bigint;
  scale: number;
}

export const zero: Decimal = { units: 0n, scale: 0 };

/** Parses a decimal without exponent. */
export function parseDecimal(text: string): Decimal {
  const point = text.indexOf(".");
  if (point < 0) return { units: BigInt(text), scale: 0 };
  return { units: BigInt(text.slice(0, point) + text.slice(point + 1)), scale: text.length - point - 1 };
}

export function addDecimals(one: Decimal, other: Decimal): Decimal {
  // Nearly all amounts have two decimals.
  if (one.scale === other.scale) return { units: one.units + other.units, scale: one.scale };
  if (one.scale < other.scale) return addDecimals(other, one);
  return { units: one.units + other.units * 10n ** BigInt(one.scale - other.scale), scale: one.scale };
}

/** `-0.50` */
export function formatDecimal({ units, scale }: Decimal): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, "0");
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale);
  return `${units < 0n ? "-" : ""}${whole}${scale > 0 ? `.${fraction}` : ""}`;
}
