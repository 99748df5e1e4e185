/** Compact references of profiles, short enough to be read aloud or put into a link. */
import { randomBase62 } from "#shared/values/base62.ts";

const length = 5;

/** A random reference: `p_` and 5 of 62 characters, one of 916 million. An index makes it unique in its property. */
export function newProfileRef(): string {
  return `p_${randomBase62(length)}`;
}
