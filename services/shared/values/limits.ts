import { DaybookError } from "./errors.ts";

/** Characters of the `client_reference` of an item of a batch. */
export const clientReferenceLengthMax = 255;

/** The most metrics of a property that its events create, and the most that are registered before their events. */
export const metricsMax = 10_000;

/**
 * Checks the number of items of a call.
 * @throws DaybookError `parameter_missing` for none, `too_many_items` for more than `max`.
 */
export function checkItemCount(count: number, max: number, param: string): void {
  if (count === 0)
    throw new DaybookError("parameter_missing", `\`${param}\` must have at least 1 item; got none.`, { param });
  if (count > max) {
    throw new DaybookError(
      "too_many_items",
      `\`${param}\` must have at most ${max} items in one request; got ${count}.`,
      { param },
    );
  }
}
