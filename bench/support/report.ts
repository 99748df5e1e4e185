/** Formats and stores results. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Sample } from "./rounds.ts";
import { median, spread, type Spread } from "./stats.ts";

/** A suite's result. By default the first contestant is compared with each of the others. */
export interface Comparison {
  title: string;
  /** Unit of `per second`. */
  unit: string;
  samples: ReadonlyMap<string, readonly Sample[]>;
  /** Pairs to compare, if not the default. */
  pairs?: readonly (readonly [of: string, to: string])[];
  /** Further findings, one line each. */
  notes?: readonly string[];
}

/** Median, minimum and maximum of the ratios of all rounds. */
export interface Ratio {
  of: string;
  to: string;
  perSecond: Spread;
  /** NaN for contestants without a server. */
  cpuSecondsPer1000: Spread;
  /** NaN for contestants without requests. */
  p99Ms: Spread;
}

export function ratiosOf({ samples, pairs }: Comparison): Ratio[] {
  const [subject = "", ...others] = samples.keys();
  const wanted = pairs ?? others.map((other): [string, string] => [subject, other]);
  return wanted.map(([of, to]) => {
    const [own = [], theirs = []] = [samples.get(of), samples.get(to)];
    // Ratios are per round, so that other load of the machine cancels out.
    const ratio = (figure: keyof Sample): Spread =>
      spread(own.map((sample, round) => (sample[figure] ?? Number.NaN) / (theirs[round]?.[figure] ?? Number.NaN)));
    const [perSecond, cpuSecondsPer1000, p99Ms] = [ratio("perSecond"), ratio("cpuSecondsPer1000"), ratio("p99Ms")];
    return { of, to, perSecond, cpuSecondsPer1000, p99Ms };
  });
}

/** Formats a comparison for a terminal. */
export function formatComparison(comparison: Comparison): string {
  const { title, unit, samples } = comparison;
  const figures = [...samples].map(([name, of]) => {
    const middle = (figure: keyof Sample): number => median(of.map((sample) => sample[figure] ?? Number.NaN));
    const text = (figure: keyof Sample, digits: number): string =>
      Number.isNaN(middle(figure)) ? "" : middle(figure).toFixed(digits);
    const perSecond = Math.round(middle("perSecond")).toLocaleString("en");
    return [name, perSecond, text("p50Ms", 1), text("p99Ms", 1), text("cpuSecondsPer1000", 3)];
  });
  const ratios = ratiosOf(comparison).map(({ of, to, perSecond, cpuSecondsPer1000, p99Ms }) => [
    `${of} ÷ ${to}`,
    formatSpread(perSecond),
    formatSpread(cpuSecondsPer1000),
    formatSpread(p99Ms),
  ]);
  return [
    `\n${title}\n`,
    formatTable([["median of the rounds", `${unit}/s`, "p50 ms", "p99 ms", `CPU s per 1,000 ${unit}`], ...figures]),
    "",
    ...(ratios.length > 0
      ? [formatTable([["median ratio (lowest to highest)", `${unit}/s`, "CPU", "p99"], ...ratios]), ""]
      : []),
    ...(comparison.notes ?? []).map((note) => `  ${note}\n`),
  ].join("\n");
}

/** Writes all comparisons and samples as JSON. */
export async function writeResults(file: string, settings: object, comparisons: readonly Comparison[]): Promise<void> {
  const results = comparisons.map((comparison) => ({
    title: comparison.title,
    unit: comparison.unit,
    notes: comparison.notes ?? [],
    ratios: ratiosOf(comparison),
    samples: Object.fromEntries(comparison.samples),
  }));
  await mkdir(dirname(file), { recursive: true });
  const measuredAt = new Date().toISOString();
  await writeFile(file, `${JSON.stringify({ measuredAt, ...settings, results }, undefined, 2)}\n`);
}

function formatSpread({ median: middle, min, max }: Spread): string {
  // The figure is unknown for a contestant.
  if (!Number.isFinite(middle)) return "";
  return `${middle.toFixed(2)} (${min.toFixed(2)} to ${max.toFixed(2)})`;
}

/** Aligns the first column left and figures right. */
function formatTable(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const pad = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => `  ${row.map(pad).join("  ")}`).join("\n");
}
