/**
 * Limits on texts of callers. A length is checked before any work whose cost grows faster than the text, so that no text costs more than its size.
 * This is the only file that normalises Unicode.
 */

/**
 * Unicode's own limit for text that is processed as a stream (UAX #15, Stream-Safe Text Format). No language comes near it. String.normalize
 * takes the square of the length of such a run.
 */
const marksInARowMax = 30;
const tooManyMarks = new RegExp(`\\p{M}{${marksInARowMax + 1}}`, "u");
/** One code point of NFC stands for at most so many as they were sent. */
const expansionMax = 4;
/** UTF-16 code units of a code point. */
const unitsMax = 2;

/** Whether a text has more than so many characters (code points). The cost does not depend on the length of the text. */
export function isLongerThan(text: string, charactersMax: number): boolean {
  if (text.length <= charactersMax) return false;
  return text.length > charactersMax * unitsMax || Array.from(text).length > charactersMax;
}

/**
 * Brings a text into Unicode NFC.
 * @param charactersMax how many characters (code points) the result may have.
 * @returns the text; or why it is refused, as the end of a sentence that starts with its name.
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
