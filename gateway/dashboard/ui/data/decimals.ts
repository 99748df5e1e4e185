/** Sums of decimal text, exact. */

/** Adds decimals such as "49.90" and "-3". The sum has as many digits behind the point as the longest of them. */
export function sumOf(decimals: readonly string[]): string {
  const digits = Math.max(0, ...decimals.map((text) => text.split(".")[1]?.length ?? 0));
  const sum = decimals.reduce((total, text) => {
    const [whole = "0", fraction = ""] = text.split(".");
    return total + BigInt(whole + fraction.padEnd(digits, "0"));
  }, 0n);
  const text = String(sum < 0n ? -sum : sum).padStart(digits + 1, "0");
  const sign = sum < 0n ? "-" : "";
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}
