/** Finds texts that name a person, so that a redaction can empty them. It rather finds too many than too few. */

import type { Names } from "./names.ts";
import { normalizeForSearch, phoneSeparators } from "./text.ts";

const letterOrDigit = /[\p{L}\p{N}]/u;
const neither = /[^\p{L}\p{N}]/gu;
const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

/**
 * Makes a test of texts: in any case, in JSON with whatever escapes, and with phone numbers as people write them.
 * Identifiers of other types than email and phone count only where neither a letter nor a digit is beside them.
 * @returns whether a text names the person. Its time is the length of the text times the number of identifiers, so
 * texts must be short.
 */
export function personFinder({ profileIds, identifiers }: Names): (text: string) => boolean {
  const valuesOf = (isWanted: (type: string) => boolean): string[] =>
    identifiers.filter(({ type }) => isWanted(type)).map(({ value }) => value.toLowerCase());
  const phones = valuesOf((type) => type === "phone").map((value) => value.replaceAll(/\D/g, ""));
  const parts = [...profileIds, ...valuesOf((type) => type === "email")].filter(Boolean);
  const words = valuesOf((type) => type !== "phone" && type !== "email").filter(Boolean);
  const isNamedIn = (text: string): boolean => {
    const normal = normalizeForSearch(text).toLowerCase();
    if (parts.some((part) => normal.includes(part)) || words.some((word) => hasWord(normal, word))) return true;
    if (phones.length === 0) return false;
    const compact = normal.replaceAll(phoneSeparators, "");
    return phones.some((phone) => phone !== "" && compact.includes(phone));
  };
  return (text) => isNamedIn(text) || (text.includes("\\") && isNamedIn(unescape(text)));
}

/** Its time is the length of the text, also where the word stands at each place of a long run of letters. */
function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, endOfRun(text, at))) {
    const [before = "", after = ""] = [text[at - 1], text[at + word.length]];
    if (!letterOrDigit.test(before) && !letterOrDigit.test(after)) return true;
  }
  return false;
}

/** The first place behind `at` that has no letter or digit before it. */
function endOfRun(text: string, at: number): number {
  neither.lastIndex = at;
  return neither.test(text) ? neither.lastIndex : text.length;
}

/** Replaces the escapes of JSON. */
function unescape(text: string): string {
  return text.replaceAll(/\\(?:u([0-9a-fA-F]{4})|([^u]))/g, (_escape, code: string | undefined, other: string = "") =>
    code === undefined ? (escapes[other] ?? other) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
