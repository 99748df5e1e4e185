/** The state of one metric's screen in the URL. */
import { rangeText } from "../../data/range.ts";
import { oneOf, searchOf } from "../../data/search.ts";
import { zoneText } from "../../data/zones.ts";
import { conditionsText, fieldText } from "./condition.ts";

export const rangeDefault = "30d";

export const readMetricSearch = searchOf({
  range: rangeText,
  interval: oneOf("hour", "day", "week", "month", "total"),
  show: oneOf("count", "sum", "profiles"),
  zone: zoneText,
  by: fieldText,
  by2: fieldText,
  where: conditionsText,
  form: oneOf("table"),
  describe: oneOf("yes"),
});

export type MetricSearch = ReturnType<typeof readMetricSearch>;
export type ChangeSearch = (next: { [Name in keyof MetricSearch]?: MetricSearch[Name] | undefined }) => void;
