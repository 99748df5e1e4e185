/** An answer as rows and lines. Chart, table and CSV are made of the same lines, from exact text. */
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { AggregateMetricResponse } from "#proto/daybook/metric/v1/metric_pb.ts";
import { formatAmount, formatCount } from "../../data/numbers.ts";
import { formatExact } from "../../data/times.ts";
import { type Condition, valueTitle } from "./condition.ts";
import type { Measure } from "./view.ts";

/** One group over time. */
export interface Line {
  /** Unique. */
  key: string;
  /** The value of each field that is grouped by, in words; undefined for none. */
  group: readonly (string | undefined)[];
  /** Of sums; undefined for events without a value. */
  currency: string | undefined;
  /** One for each begin: exact decimal text. */
  values: readonly string[];
}

export interface Answer {
  begins: readonly Date[];
  /** As the API has them, to the microsecond. */
  beginTexts: readonly string[];
  groupBy: readonly string[];
  /** Every event that was received up to then is counted. */
  asOf: Date;
  lines: readonly Line[];
}

export function answerOf(
  response: AggregateMetricResponse,
  measure: Measure,
  conditions: readonly Condition[],
): Answer {
  const { bucketStarts, groupBy, series, asOf } = response;
  const currencyAt = groupBy.indexOf("currency");
  const chosen = conditions.find(({ field }) => field === "currency");
  const chosenCurrency = chosen && currencyOf(chosen.valueJson);
  return {
    begins: bucketStarts.map(timestampDate),
    beginTexts: bucketStarts.map(formatExact),
    groupBy,
    asOf: asOf ? timestampDate(asOf) : new Date(0),
    lines: series.map(({ valuesJson, count, sumValue, uniqueProfiles }) => ({
      key: JSON.stringify(valuesJson),
      group: valuesJson.map((value) => (value === "null" ? undefined : valueTitle(value))),
      currency: currencyAt === -1 ? chosenCurrency : currencyOf(valuesJson[currencyAt] ?? "null"),
      values: measure === "sum" ? sumValue : (measure === "count" ? count : uniqueProfiles).map(String),
    })),
  };
}

function currencyOf(valueJson: string): string | undefined {
  const value = JSON.parse(valueJson) as unknown;
  return typeof value === "string" ? value.toUpperCase() : undefined;
}

/** A value in words. */
export function valueFormat(measure: Measure, currency: string | undefined): (value: string) => string {
  return measure === "sum" ? (value) => formatAmount(value, currency) : formatCount;
}

/** What a line is called in a legend. */
export function lineTitle({ group }: Line, fallback: string): string {
  return group.length === 0 ? fallback : group.map((value) => shown(value ?? "none", 80)).join(" · ");
}

/** A stored value within a line of text: cut, and kept from turning the text around it to the other direction. */
export function shown(value: string, most: number): string {
  const text = value.length > most ? `${value.slice(0, most)}…` : value;
  return /[\u0590-\u08FF\u200E\u200F\u202A-\u202E\u2066-\u2069]/.test(text) ? `\u2068${text}\u2069` : text;
}

/** The rows of table and file: one for each interval and group. */
export function* rowsOf({
  begins,
  beginTexts,
  lines,
}: Answer): Generator<{ begin: Date; text: string; line: Line; value: string }> {
  for (const [index, begin] of begins.entries()) {
    for (const line of lines) {
      yield { begin, text: beginTexts[index] ?? "", line, value: line.values[index] ?? "" };
    }
  }
}

/** The rows of the file, its header first. A group without a value is an empty cell. */
export function* csvRows(answer: Answer, name: string): Generator<readonly string[]> {
  yield ["from", ...answer.groupBy, name];
  for (const { text, line, value } of rowsOf(answer)) {
    yield [text, ...line.group.map((group) => group ?? ""), value];
  }
}

/** The lines with most in them, for drawing. Only their order is taken from floating-point numbers. */
export function largest(lines: readonly Line[], most: number): readonly Line[] {
  if (lines.length <= most) return lines;
  const size = (line: Line): number => line.values.reduce((sum, value) => sum + Math.abs(Number(value)), 0);
  return lines
    .map((line) => ({ line, size: size(line) }))
    .toSorted((one, other) => other.size - one.size)
    .slice(0, most)
    .map(({ line }) => line);
}

export const isAllZero = ({ values }: Line): boolean => values.every((value) => value === "0");
