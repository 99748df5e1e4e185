/** Compact references of profiles: short enough to be read out or put into a link. */
import { randomBase62 } from "#shared/values/base62.ts";

const length = 5;

/** A new one at random: `p_` and 5 of 62 characters, one of 916 million. The database sees to it that no other profile has it. */
export function newProfileRef(): string {
  return `p_${randomBase62(length)}`;
}
