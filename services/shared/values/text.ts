/**
 * Limits of callers' texts. Lengths are checked before any work of superlinear cost, so the cost of a text is linear.
 * Only this file normalises Unicode.
 */

/**
 * Unicode's limit for streamed text (UAX #15, Stream-Safe Text Format), far above any language. String.normalize takes
 * time quadratic in the length of such a run.
 */
const marksInARowMax = 30;
const tooManyMarks = new RegExp(`\\p{M}{${marksInARowMax + 1}}`, "u");
const furtherMarks = new RegExp(`(?<=\\p{M}{${marksInARowMax}})\\p{M}+`, "gu");
/** The most code points that become one code point of NFC. */
const expansionMax = 4;
/** The most UTF-16 code units of a code point. */
const unitsMax = 2;

/** Whether a text has more than `charactersMax` code points, at a cost independent of its length. */
export function isLongerThan(text: string, charactersMax: number): boolean {
  if (text.length <= charactersMax) return false;
  return text.length > charactersMax * unitsMax || Array.from(text).length > charactersMax;
}

/**
 * Normalises a text to Unicode NFC.
 * @param charactersMax the most code points of the result.
 * @returns the text, or why it is refused, as the end of a sentence that starts with its name.
 */
export function normalizeText(text: string, charactersMax: number): { text: string } | { reason: string } {
  const tooLong = { reason: `has at most ${charactersMax} characters` };
  if (isLongerThan(text, charactersMax * expansionMax)) return tooLong;
  if (text.length > marksInARowMax && tooManyMarks.test(text)) {
    return { reason: `has at most ${marksInARowMax} combining marks in a row` };
  }
  const normal = text.normalize("NFC");
  return isLongerThan(normal, charactersMax) ? tooLong : { text: normal };
}

/** What people write between the digits of a phone. */
export const phoneSeparators = /[\s().-]/g;

/** Normalises a text of any length to Unicode NFC, to find others in it. Of marks in a row only the first 30 stay. */
export function normalizeForSearch(text: string): string {
  const bounded = text.length > marksInARowMax && tooManyMarks.test(text) ? text.replaceAll(furtherMarks, "") : text;
  return bounded.normalize("NFC");
}
