/** Series of an aggregate: one value per bucket for each group. */
import { canonicalJson, parseJson } from "#shared/json/json.ts";
import { addDecimals, zero, type Decimal } from "./decimal.ts";

/** The values of one group. */
export interface Series<Profiles> {
  /** JSON texts, one for each field of the grouping. */
  values: readonly string[];
  count: number[];
  sum: Decimal[];
  /** Undefined for buckets without profiles. */
  profiles: (Profiles | undefined)[];
}

/** Collects series. Group values that are equal as JSON are one group. */
export interface SeriesCollector<Profiles> {
  /** Adds to a bucket. @returns the series of its group. */
  add(bucket: number, values: readonly string[], count: number, sum: Decimal): Series<Profiles>;
  readonly size: number;
  /** All series in the order of their groups. */
  all(): Series<Profiles>[];
}

export function collectSeries<Profiles>(buckets: number): SeriesCollector<Profiles> {
  const series = new Map<string, Series<Profiles>>();
  return {
    add(bucket, values, count, sum) {
      const key = values.map((value) => canonicalJson(parseJson(value))).join(" ");
      let one = series.get(key);
      if (!one) {
        one = {
          values,
          count: Array.from({ length: buckets }, () => 0),
          sum: Array.from({ length: buckets }, () => zero),
          profiles: Array.from({ length: buckets }, () => undefined),
        };
        series.set(key, one);
      }
      one.count[bucket] = (one.count[bucket] as number) + count;
      one.sum[bucket] = addDecimals(one.sum[bucket] as Decimal, sum);
      return one;
    },
    get size() {
      return series.size;
    },
    all: () => [...series].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, one]) => one),
  };
}
