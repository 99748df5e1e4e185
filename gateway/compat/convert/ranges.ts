/** Time ranges from the comparisons of a filter. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { TimeRangeSchema } from "#proto/daybook/common/v1/range_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import { toTimestamp } from "#shared/values/time.ts";

const boundOf = {
  "greater-or-equal": "gte",
  "greater-than": "gt",
  "less-or-equal": "lte",
  "less-than": "lt",
} as const;

export const comparisons = Object.keys(boundOf) as (keyof typeof boundOf)[];

/** A range that each comparison narrows. */
export class InstantRange {
  readonly #bounds = new Map<string, Micros>();

  narrow(operator: string, micros: Micros): void {
    const bound = boundOf[operator as keyof typeof boundOf];
    const known = this.#bounds.get(bound) ?? micros;
    this.#bounds.set(bound, bound.startsWith("g") ? Math.max(known, micros) : Math.min(known, micros));
  }

  get isOpen(): boolean {
    return this.#bounds.size === 0;
  }

  toMessage(): MessageInitShape<typeof TimeRangeSchema> {
    return Object.fromEntries([...this.#bounds].map(([bound, micros]) => [bound, toTimestamp(micros)]));
  }
}
