/** Filters whose values have a format. */
import { tryDecodeId, type IdPrefix } from "#shared/values/ids.ts";
import { readValue } from "#shared/values/identifiers.ts";
import { mismatch } from "#shared/values/wording.ts";
import type { Filter } from "./query.ts";
import { idExpected, idPattern } from "./rules.ts";

export function idFilter(prefix: IdPrefix, description: string): Filter {
  return {
    description,
    pattern: idPattern(prefix),
    check: (value, param) =>
      tryDecodeId(prefix, value) === undefined
        ? mismatch(param, idExpected(prefix), value, { code: "invalid_id" })
        : undefined,
  };
}

export function identifierFilter(type: string, description: string): Filter {
  return {
    description,
    check(value, param) {
      const reading = readValue(type, value, param);
      return "error" in reading ? reading.error : undefined;
    },
  };
}
