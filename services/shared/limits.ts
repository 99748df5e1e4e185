import { DaybookError } from "./errors.ts";

/**
 * Checks the number of items of a call.
 * @throws DaybookError `parameter_missing` for none, `too_many_items` for more than `max`.
 */
export function checkItemCount(count: number, max: number, param: string): void {
  if (count === 0) throw new DaybookError("parameter_missing", `There must be at least one of ${param}.`, { param });
  if (count > max) {
    throw new DaybookError("too_many_items", `There are at most ${max} of ${param} in one call.`, { param });
  }
}
