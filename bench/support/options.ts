/** Reads the command line. */
import { parseArgs } from "node:util";

/** How many events are there before `aggregate`, `uniques` and `full`, spread over how many days. */
export interface HistorySize {
  millions: number;
  days: number;
}

/** Options, see README.md. */
export interface Options {
  /** Duration of each run. */
  seconds: number;
  rounds: number;
  /** Duration of `live-soak`. */
  minutes: number;
  history: HistorySize;
  /** Names of the suites to run. */
  suites: string[];
}

const secondsMax = 60;
// A median of fewer is meaningless.
const roundsMin = 3;
const roundsMax = 50;
const minutesMax = 60;
const millionsMax = 50;
const daysMax = 365;

/**
 * Reads `--seconds`, `--rounds`, `--minutes`, `--millions`, `--days` and `--only`.
 * @param suites names for `--only`.
 * @throws Error that names the fault.
 */
export function readOptions(args: string[], suites: readonly string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: "string", default: "5" },
      rounds: { type: "string", default: "3" },
      minutes: { type: "string", default: "1" },
      millions: { type: "string", default: "5" },
      days: { type: "string", default: "90" },
      only: { type: "string" },
    },
  });
  const only = values.only?.split(",");
  if (only && !only.every((name) => suites.includes(name))) {
    throw new Error(`--only is one or more of ${suites.join(", ")}, with commas between them`);
  }
  return {
    seconds: readInteger("seconds", values.seconds, 1, secondsMax),
    rounds: readInteger("rounds", values.rounds, roundsMin, roundsMax),
    minutes: readInteger("minutes", values.minutes, 1, minutesMax),
    history: {
      millions: readInteger("millions", values.millions, 1, millionsMax),
      days: readInteger("days", values.days, 1, daysMax),
    },
    suites: only ?? [...suites],
  };
}

function readInteger(name: string, text: string, min: number, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new Error(`--${name} is a whole number from ${min} to ${max}`);
}
