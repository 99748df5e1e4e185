/** Reads sets of profiles page by page, because they are large and other requests must run in between. */
import type { Queryable } from "#shared/database/postgres.ts";
import { formatMicros } from "#shared/values/time.ts";
import { countPeriods, type Span } from "./domain/buckets.ts";
import { readProfileSet, type ProfileSet } from "./profile-set.ts";
import { readSetsWithin, type ChosenParams, type SetRow } from "./sql/rollups.ts";

// A set of a million profiles has 130 KB.
const setsMax = 250;
const spansMax = 1_000;

/** The sets of some spans in order. Each is disposed of before the next. */
export async function* readSetsOf(
  database: Queryable,
  chosen: ChosenParams,
  spans: readonly Span[],
): AsyncGenerator<Omit<SetRow, "profiles"> & { set: ProfileSet }> {
  const waiting = [...spans];
  // How many periods a page is likely to hold: a period has a set for each source and currency, or none.
  let periodsMax = setsMax;
  for (;;) {
    const asked = takeSpans(waiting, periodsMax);
    if (asked.length === 0) return;
    let found = 0;
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
      found += rows.length;
      const last = rows.at(-1);
      hasMore = last !== undefined && rows.length === setsMax;
      if (last) ({ period: after, source: afterSource, currency: afterCurrency } = last);
    }
    if (found > setsMax) periodsMax = Math.max(1, Math.floor(periodsMax / 2));
    else if (found < setsMax / 2) periodsMax *= 2;
  }
}

/** Takes spans of so many periods in all, and at least one. */
function takeSpans(waiting: Span[], periodsMax: number): Span[] {
  let periods = 0;
  const until = waiting.findIndex((span, index) => {
    periods += countPeriods(span);
    return periods > periodsMax || index === spansMax;
  });
  return waiting.splice(0, until < 0 ? waiting.length : Math.max(until, 1));
}
