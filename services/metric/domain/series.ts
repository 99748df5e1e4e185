/** Series of an aggregate: by group, a value for each bucket. */
import { canonicalJson, parseJson } from "#shared/json/json.ts";
import { addDecimals, zero, type Decimal } from "./decimal.ts";

/** What is counted of one group. */
export interface Series<Profiles> {
  /** JSON texts, of each field grouped by. */
  values: readonly string[];
  count: number[];
  sum: Decimal[];
  /** None where there is no event with a profile. */
  profiles: (Profiles | undefined)[];
}

/** Collects what is counted. Two values of a group are one when they are equal as JSON. */
export interface SeriesCollector<Profiles> {
  /** Adds to the bucket of a group. @returns the series of that group. */
  add(bucket: number, values: readonly string[], count: number, sum: Decimal): Series<Profiles>;
  readonly size: number;
  /** All series, in the order of their groups. */
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
