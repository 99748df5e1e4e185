/** The drawing of a chart: d3's scales and shapes, React's SVG. Arrow keys move between the intervals. */
import { scaleLinear, scaleUtc } from "d3-scale";
import { line } from "d3-shape";
import { useEffect, useRef, useState } from "react";
import { formatCompact } from "../data/numbers.ts";
import { type ChartProps, colors } from "./chart-props.ts";

const height = 240;
const around = { top: 8, right: 8, bottom: 24, left: 48 };
// Of a digit of 11 pixels.
const digitWidth = 6.6;

export default function ChartDrawing(props: ChartProps): React.ReactNode {
  const { label, kind = "line", times, series, format, formatTime, isLastOpen = false, timeZone = "UTC" } = props;
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const [at, setAt] = useState<number>();
  const numbers = series.map(({ values }) => values.map((value) => (value === undefined ? undefined : Number(value))));
  const all = numbers.flat().filter((value) => value !== undefined);
  const first = times[0] ?? new Date(0);
  const last = times.at(-1) ?? first;
  const y = scaleLinear([Math.min(0, ...all), Math.max(1, ...all)], [height - around.bottom, around.top]).nice(4);
  const yTicks = y.ticks(4).map((tick) => ({ tick, title: formatCompact(String(tick)) }));
  const longest = Math.max(...yTicks.map(({ title }) => title.length));
  const margin = { ...around, left: Math.max(around.left, longest * digitWidth + 12) };
  const inner = Math.max(width - margin.left - margin.right, 1);
  // Half an interval on both sides is room for bars.
  const slot = inner / Math.max(times.length, 1);
  const x = scaleUtc([first, last], [margin.left + slot / 2, margin.left + inner - slot / 2]);
  const path = line<number | undefined>()
    .defined((value) => value !== undefined)
    .x((_, index) => x(times[index] ?? first))
    .y((value) => y(value ?? 0));

  const move = (event: React.KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -times.length, End: times.length }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    setAt(Math.min(Math.max((at ?? (step > 0 ? -1 : times.length)) + step, 0), times.length - 1));
  };
  const point = (event: React.PointerEvent<SVGSVGElement>): void => {
    const left = event.clientX - event.currentTarget.getBoundingClientRect().left - margin.left;
    setAt(Math.min(Math.max(Math.floor(left / slot), 0), times.length - 1));
  };
  const chosen = at === undefined ? undefined : times[at];
  // Labels stand at intervals: those of a day begin at midnight of the zone, where ticks of UTC would not be.
  const every = Math.max(Math.ceil(times.length / Math.max(Math.floor(inner / 90), 1)), 1);
  const xTicks = times.filter((_, index) => index % every === 0);
  const xFormat = tickFormat(last.getTime() - first.getTime(), timeZone);

  return (
    <div ref={frame} className="chart-space">
      <svg
        width={width}
        height={height}
        role="application"
        aria-roledescription="chart"
        aria-label={`${label}. Arrow keys read the values; the table has them all.`}
        tabIndex={0}
        onKeyDown={move}
        onPointerMove={point}
        onPointerLeave={() => setAt(undefined)}
        onBlur={() => setAt(undefined)}
      >
        {yTicks.map(({ tick, title }) => (
          <g key={tick} className="chart-grid">
            <line x1={margin.left} x2={width - margin.right} y1={y(tick)} y2={y(tick)} />
            <text x={margin.left - 8} y={y(tick)} dy="0.32em" textAnchor="end">
              {title}
            </text>
          </g>
        ))}
        {xTicks.map((tick) => (
          <text key={tick.getTime()} className="chart-tick" x={x(tick)} y={height - 6} textAnchor="middle">
            {xFormat.format(tick)}
          </text>
        ))}
        {chosen && (
          <line className="chart-cursor" x1={x(chosen)} x2={x(chosen)} y1={margin.top} y2={height - margin.bottom} />
        )}
        {numbers.map((values, index) => (
          <g key={series[index]?.name} data-series={index % colors} className="chart-series">
            {kind === "line" && <path d={path(values) ?? ""} />}
            {kind === "bar" &&
              values.map((value, place) => {
                const time = times[place];
                if (value === undefined || !time) return null;
                const each = Math.max((slot * 0.8) / series.length, 1);
                return (
                  <rect
                    key={time.getTime()}
                    data-open={isLastOpen && place === times.length - 1}
                    x={x(time) - slot * 0.4 + index * each}
                    width={Math.max(each - (each > 4 ? 1 : 0), 0.5)}
                    y={Math.min(y(value), y(0))}
                    height={Math.abs(y(value) - y(0))}
                  />
                );
              })}
            {at !== undefined && chosen && values[at] !== undefined && kind === "line" && (
              <circle cx={x(chosen)} cy={y(values[at])} r={3.5} />
            )}
          </g>
        ))}
      </svg>
      <p className="chart-readout" role="status">
        {chosen === undefined || at === undefined
          ? " "
          : `${formatTime(chosen)}${isLastOpen && at === times.length - 1 ? " (not over yet)" : ""}: ${series
              .map(({ name, values }) => `${name} ${values[at] === undefined ? "nothing" : format(values[at])}`)
              .join(", ")}`}
      </p>
    </div>
  );
}

const dayMs = 86_400_000;

/** Labels of the axis: times of a day, days, or months. */
function tickFormat(spanMs: number, timeZone: string): Intl.DateTimeFormat {
  if (spanMs < 2 * dayMs) return new Intl.DateTimeFormat(undefined, { timeZone, hour: "numeric", minute: "2-digit" });
  if (spanMs < 400 * dayMs) return new Intl.DateTimeFormat(undefined, { timeZone, day: "numeric", month: "short" });
  return new Intl.DateTimeFormat(undefined, { timeZone, month: "short", year: "numeric" });
}

function useWidth(element: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(640);
  useEffect(() => {
    if (!element.current) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width ?? 640)));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
