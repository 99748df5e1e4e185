/**
 * A chart over time, and the same as a table. Its drawing, chart-drawing.tsx, is loaded only where it is shown.
 * Values are decimal text: only the pixels are floating-point numbers.
 */
import { lazy, Suspense, useId, useState } from "react";
import { type ChartProps, colors } from "./chart-props.ts";
import { Segments } from "./field.tsx";
import "../styles/chart.css";

const Drawing = lazy(() => import("./chart-drawing.tsx"));
const rowsMax = 400;

export function Chart(props: ChartProps): React.ReactNode {
  const [form, setForm] = useState<"chart" | "table">("chart");
  const caption = useId();
  const { label, series, hasTable = true } = props;
  return (
    <figure className="chart" aria-labelledby={caption}>
      <figcaption id={caption}>
        <strong>{label}</strong>
        {series.length > 1 && (
          <ul className="legend">
            {series.map(({ name }, index) => (
              <li key={name} data-series={index % colors}>
                {name}
              </li>
            ))}
          </ul>
        )}
        {hasTable && (
          <Segments
            label={`Form of ${label}`}
            value={form}
            options={[
              { value: "chart", title: "Chart" },
              { value: "table", title: "Table" },
            ]}
            onChange={setForm}
          />
        )}
      </figcaption>
      {form === "chart" ? (
        <Suspense fallback={<div className="chart-space" />}>
          <Drawing {...props} />
        </Suspense>
      ) : (
        <ChartTable {...props} />
      )}
    </figure>
  );
}

function ChartTable({ label, times, series, format, formatTime }: ChartProps): React.ReactNode {
  const rows = times.map((at, index) => ({ at, index })).slice(-rowsMax);
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={`${label}, as a table`}>
      <table className="table plain-table">
        <thead>
          <tr>
            <th scope="col">From</th>
            {series.map(({ name }) => (
              <th key={name} scope="col" data-align="end">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ at, index }) => (
            <tr key={at.getTime()}>
              <td>{formatTime(at)}</td>
              {series.map(({ name, values }) => {
                const value = values[index];
                return (
                  <td key={name} data-align="end">
                    {value === undefined ? "" : format(value)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A line without axes, for tables. Its figures stand beside it in words. */
export function Sparkline({ values, label }: { values: readonly string[]; label: string }): React.ReactNode {
  const numbers = values.map(Number);
  const max = Math.max(...numbers, 1);
  const step = 100 / Math.max(values.length - 1, 1);
  const path = numbers
    .map((value, index) => `${index === 0 ? "M" : "L"}${index * step} ${24 - (value / max) * 22}`)
    .join("");
  return (
    <svg className="sparkline" viewBox="0 0 100 26" preserveAspectRatio="none" role="img" aria-label={label}>
      {values.length > 1 && <path d={path} vectorEffect="non-scaling-stroke" />}
    </svg>
  );
}
