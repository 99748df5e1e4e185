import type { Daybook } from "../contestants/daybook.ts";
import type { BenchDatabase } from "../support/database.ts";
import type { HistorySize } from "../support/options.ts";
import type { Comparison } from "../support/report.ts";
import type { Rounds } from "../support/rounds.ts";

/** Shared by all suites: one database and one Daybook. */
export interface SuiteContext extends Rounds {
  database: BenchDatabase;
  daybook: Daybook;
  /** How long `live-soak` goes on. */
  minutes: number;
  history: HistorySize;
}

/** Measures one thing, and closes what it started. */
export type Suite = (context: SuiteContext) => Promise<Comparison>;
