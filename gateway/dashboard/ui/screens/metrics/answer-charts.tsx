/** An answer as charts: one, or for sums one for each currency, because amounts in two currencies share no axis. */
import { Chart } from "../../components/chart.tsx";
import { type ChartSeries, colors } from "../../components/chart-props.ts";
import { formatCount } from "../../data/numbers.ts";
import { intervalTitle } from "../../data/zones.ts";
import { type Answer, isAllZero, largest, type Line, lineTitle, valueFormat } from "./answer.ts";
import { type Measure, measures, type Question } from "./view.ts";

const currenciesMax = 6;
const barsMax = 120;

export function AnswerCharts({
  answer,
  show,
  question,
}: {
  answer: Answer;
  show: Measure;
  question: Question;
}): React.ReactNode {
  if (show !== "sum") return <One answer={answer} lines={answer.lines} show={show} question={question} />;
  // Events without a value come to nothing, in no currency.
  const lines = answer.lines.filter((line) => line.currency !== undefined || !isAllZero(line));
  const byCurrency = [...Map.groupBy(lines.length > 0 ? lines : answer.lines, ({ currency }) => currency)];
  const left = byCurrency.slice(currenciesMax).map(([currency]) => currency ?? "none");
  return (
    <div className="metric-charts">
      {byCurrency.slice(0, currenciesMax).map(([currency, own]) => (
        <One key={currency ?? ""} answer={answer} lines={own} show={show} question={question} currency={currency} />
      ))}
      {left.length > 0 && <p className="muted">Not drawn, but in the table and the file: {left.join(", ")}.</p>}
    </div>
  );
}

function One({
  answer,
  lines,
  show,
  question,
  currency,
}: {
  answer: Answer;
  lines: readonly Line[];
  show: Measure;
  question: Question;
  currency?: string | undefined;
}): React.ReactNode {
  const { zone, interval, to } = question;
  const drawn = largest(lines, colors);
  const inCurrency = currency === undefined ? "" : ` in ${currency}`;
  const label = `${measures[show].title}${inCurrency}`;
  const currencyAt = show === "sum" ? answer.groupBy.indexOf("currency") : -1;
  const named = drawn.map((line) => ({ ...line, group: line.group.filter((_, index) => index !== currencyAt) }));
  return (
    <div className={show === "sum" ? "" : "metric-single"}>
      <Chart
        label={label}
        kind={drawn.length === 1 && answer.begins.length <= barsMax ? "bar" : "line"}
        times={answer.begins}
        series={distinct(named.map((line) => ({ name: lineTitle(line, label), values: line.values })))}
        format={valueFormat(show, currency)}
        formatTime={intervalTitle(interval === "total" ? undefined : interval, zone)}
        timeZone={zone}
        isLastOpen={to > answer.asOf}
        hasTable={false}
      />
      {drawn.length < lines.length && (
        <p className="muted">
          Drawn are the {drawn.length} largest of {formatCount(lines.length)} groups. The table and the file have all.
        </p>
      )}
    </div>
  );
}

/** Names that are alike after they were cut get a number. */
function distinct(series: readonly ChartSeries[]): readonly ChartSeries[] {
  const seen = new Map<string, number>();
  return series.map(({ name, values }) => {
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return { name: times === 1 ? name : `${name} (${times})`, values };
  });
}
