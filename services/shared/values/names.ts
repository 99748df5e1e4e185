/** What texts are searched for that may name a person. */
import type { NormalIdentifier } from "./identifiers.ts";
import { normalizeForSearch, phoneSeparators } from "./text.ts";

const partLengthMin = 6;

/** What a text may name a person by. */
export interface Names {
  /** Identifiers in normal form. */
  identifiers: readonly NormalIdentifier[];
  /** TypeIDs of profiles. */
  profileIds: readonly string[];
}

/** Texts to look for, in the form of JSON and in lower case, and phones. */
export function textsOf({ identifiers, profileIds }: Names): { texts: string[]; phones: string[] } {
  // A short value is a part of many texts, so it must be a whole one.
  const escaped = (text: string): string => {
    const json = JSON.stringify(text).toLowerCase();
    return text.length < partLengthMin ? json : json.slice(1, -1);
  };
  return {
    texts: [...identifiers.flatMap(({ type, value }) => (type === "phone" ? [] : [escaped(value)])), ...profileIds],
    phones: identifiers.flatMap(({ type, value }) => (type === "phone" ? [value] : [])),
  };
}

/**
 * Makes a test whether a text, which is JSON, contains any of the texts or phones of `textsOf`. It was written as sent:
 * in any case and normalisation, and phones with separators.
 */
export function textFinder({
  texts,
  phones,
}: {
  texts: readonly string[];
  phones: readonly string[];
}): (text: string) => boolean {
  return (text) => {
    const normal = normalizeForSearch(text).toLowerCase();
    if (texts.some((one) => normal.includes(one))) return true;
    if (phones.length === 0) return false;
    const compact = normal.replaceAll(phoneSeparators, "");
    return phones.some((one) => compact.includes(one));
  };
}
