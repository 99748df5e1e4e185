/** Reads sets of profiles page by page, because they are large and other requests must run in between. */
import type { Queryable } from "#shared/database/postgres.ts";
import { formatMicros } from "#shared/values/time.ts";
import { countPeriods, type Span } from "./domain/buckets.ts";
import { readProfileSet, type ProfileSet } from "./profile-set.ts";
import { readSetsWithin, type ChosenParams, type SetRow } from "./sql/rollups.ts";

// A set of a million profiles has 130 KB.
const setsMax = 250;

/** The sets of some spans in order. Each is disposed of before the next. */
export async function* readSetsOf(
  database: Queryable,
  chosen: ChosenParams,
  spans: readonly Span[],
): AsyncGenerator<Omit<SetRow, "profiles"> & { set: ProfileSet }> {
  const waiting = [...spans];
  for (let asked = takePage(waiting); asked.length > 0; asked = takePage(waiting)) {
    let [after, afterSource, afterCurrency] = [(asked[0] as Span).from, "", ""];
    for (let hasMore = true; hasMore;) {
      const rows = await readSetsWithin(database, [
        ...chosen,
        formatMicros(after),
        afterSource,
        afterCurrency,
        setsMax,
        asked
          .filter(({ to }) => to > after)
          .map(({ minutes, from, to }) => ({ minutes, starts_at: Math.max(from, after), ends_at: to })),
      ]);
      for (const { profiles, ...row } of rows) {
        const set = readProfileSet(profiles);
        try {
          yield { ...row, set };
        } finally {
          set.dispose();
        }
      }
      const last = rows.at(-1);
      hasMore = last !== undefined && rows.length === setsMax;
      if (last) ({ period: after, source: afterSource, currency: afterCurrency } = last);
    }
  }
}

/** Takes as many spans as have a page of periods; a period has a set for each source and currency. */
function takePage(waiting: Span[]): Span[] {
  let periods = 0;
  const until = waiting.findIndex((span) => {
    periods += countPeriods(span);
    return periods > setsMax;
  });
  return waiting.splice(0, until < 0 ? waiting.length : Math.max(until, 1));
}
