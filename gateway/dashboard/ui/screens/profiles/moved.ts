/** What a merge moves, in words. */
import type { MovedByMerge } from "#proto/daybook/profile/v1/profile_pb.ts";

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`;

export function movedInWords(moved: MovedByMerge | undefined): string {
  if (!moved) return "";
  const parts = [
    [moved.identifierIds.length, "identifier"],
    [moved.attributes.length, "attribute"],
    [moved.tags.length, "tag"],
    [moved.location.length, "location field"],
  ] as const;
  const words = parts.filter(([count]) => count > 0).map(([count, one]) => counted(count, one));
  return words.length === 0 ? "Events only" : words.join(", ");
}
