/** What a chart shows: shared by the chart and its drawing, which is loaded later. */

export interface ChartSeries {
  name: string;
  /** One for each of `times`, in their order; undefined where there is nothing. */
  values: readonly (string | undefined)[];
}

export interface ChartProps {
  /** What it shows: "Orders a day". */
  label: string;
  kind?: "line" | "bar";
  /** The begins of the intervals, rising. */
  times: readonly Date[];
  series: readonly ChartSeries[];
  /** A value in words: formatCount, or an amount. */
  format: (value: string) => string;
  /** A time in words, in the zone of the data. */
  formatTime: (at: Date) => string;
  /** Of the labels of the axis: an IANA name; UTC without one. */
  timeZone?: string;
  /** Whether the chart has a table of its own. Absent: it has. */
  hasTable?: boolean;
  /** An interval that is not over yet is marked: it has less than it will have. */
  isLastOpen?: boolean;
}

/** As many as there are --series-n in data.css. */
export const colors = 6;
