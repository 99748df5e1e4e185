/** Formats a number as `1,000`. */
export function count(number: number): string {
  return number.toLocaleString("en");
}
