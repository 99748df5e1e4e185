/** Tags: words that operators put on profiles. */
import { DaybookError, type FieldError } from "#shared/values/errors.ts";
import { textProblem } from "#shared/json/json.ts";
import { isLongerThan } from "#shared/values/text.ts";

const tagLengthMax = 255;
const tagsMax = 250;

/** A change of the tags of a profile. */
export interface TagChange {
  add: readonly string[];
  remove: readonly string[];
  /** Removes all tags except the added ones. */
  replace: boolean;
}

/**
 * Changes tags. Kept tags keep their order, and new tags follow them.
 * @throws DaybookError `parameter_invalid` with every tag at fault, `too_many_items`.
 */
export function changeTags(current: readonly string[], change: TagChange): string[] {
  const errors = change.add.flatMap((tag, index): FieldError[] => {
    const reason = tagProblem(tag);
    return reason === undefined ? [] : [{ code: "parameter_invalid", message: reason, param: `add.${index}` }];
  });
  if (errors.length > 0) throw DaybookError.ofFields(errors);
  const removed = new Set(change.remove);
  const kept = change.replace ? current.filter((tag) => change.add.includes(tag)) : current;
  const tags = [...new Set([...kept.filter((tag) => !removed.has(tag)), ...change.add])];
  if (tags.length > tagsMax) {
    throw new DaybookError("too_many_items", `A profile has at most ${tagsMax} tags.`, { param: "add" });
  }
  return tags;
}

function tagProblem(tag: string): string | undefined {
  const problem = textProblem(tag);
  if (problem !== undefined) return `The tag ${problem}.`;
  return tag === "" || isLongerThan(tag, tagLengthMax) ? `A tag has 1 to ${tagLengthMax} characters.` : undefined;
}
