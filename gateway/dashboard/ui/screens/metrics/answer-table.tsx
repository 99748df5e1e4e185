/** An answer as a table, and as a file: a row for each interval and group. */
import { useState } from "react";
import { csvOf, download } from "../../data/csv.ts";
import { formatCount } from "../../data/numbers.ts";
import { intervalTitle } from "../../data/zones.ts";
import { type Answer, csvRows, rowsOf, shown, valueFormat } from "./answer.ts";
import { type Measure, measures, type Question } from "./view.ts";

const rowsStep = 200;
// The file has it whole.
const textMax = 200;

export function AnswerTable({
  answer,
  show,
  question,
}: {
  answer: Answer;
  show: Measure;
  question: Question;
}): React.ReactNode {
  const [rows, setRows] = useState(rowsStep);
  const { interval, zone } = question;
  const timeTitle = intervalTitle(interval === "total" ? undefined : interval, zone);
  const total = answer.begins.length * answer.lines.length;
  const label = `${measures[show].title}, as a table`;
  return (
    <>
      <div className="scroll" tabIndex={0} role="region" aria-label={label}>
        <table className="table plain-table">
          <caption className="hidden">{label}</caption>
          <thead>
            <tr>
              <th scope="col">From</th>
              {answer.groupBy.map((field) => (
                <th key={field} scope="col">
                  {field}
                </th>
              ))}
              <th scope="col" data-align="end">
                {measures[show].title}
              </th>
            </tr>
          </thead>
          <tbody>
            {[...rowsOf(answer).take(rows)].map(({ begin, text, line, value }) => (
              <tr key={`${text} ${line.key}`}>
                <td data-title="From">
                  <time dateTime={text} title={text}>
                    {timeTitle(begin)}
                  </time>
                </td>
                {answer.groupBy.map((field, index) => (
                  <td key={field} data-title={field}>
                    {line.group[index] === undefined ? (
                      <span className="muted">none</span>
                    ) : (
                      <bdi>{shown(line.group[index], textMax)}</bdi>
                    )}
                  </td>
                ))}
                <td data-title={measures[show].title} data-align="end">
                  <span className="number">{valueFormat(show, line.currency)(value)}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {total > rows && (
        <p className="load-more">
          <button type="button" className="button" onClick={() => setRows(rows + rowsStep)}>
            Show {formatCount(Math.min(rowsStep, total - rows))} more of {formatCount(total)} rows
          </button>
        </p>
      )}
    </>
  );
}

/** Saves all rows, with exact values. */
export function saveCsv(answer: Answer, metric: string, name: string, { from, to }: Question): void {
  const days = [from, to].map((at) => at.toISOString().slice(0, 10)).join("_");
  download(`${metric}-${name}-${days}.csv`.replaceAll(/[^\w.-]/g, "-"), csvOf(csvRows(answer, name)));
}
