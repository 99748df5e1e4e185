/** Outcomes of job items that are processed together but fail alone. */
import { isAway } from "../bus/delivery.ts";
import type { Log } from "../process/log.ts";
import { DaybookError, internalError } from "../values/errors.ts";

/**
 * Does the work for all items together, and one by one when that throws, so that only a bad item fails.
 * @param work returns the outcome of each item, in order.
 * @throws when a dependency is away, because that says nothing about the items.
 */
export async function settleItems<Item, Result>(
  log: Log,
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<(Result | DaybookError)[]>,
): Promise<(Result | DaybookError)[]> {
  if (items.length === 0) return [];
  try {
    const outcomes = await work(items);
    for (const outcome of outcomes) if (outcome instanceof DaybookError && isAway(outcome)) throw outcome;
    return outcomes;
  } catch (error) {
    if (error instanceof Error && isAway(error)) throw error;
    if (items.length === 1 && error instanceof DaybookError) return [error];
    log.error({ err: error, items: items.length }, "items of a job failed");
    if (items.length === 1) return [internalError(error)];
  }
  const outcomes: (Result | DaybookError)[] = [];
  for (const item of items) outcomes.push(...(await settleItems(log, [item], work)));
  return outcomes;
}
