/** What the lanes are made of, and their limits. */
import type { Database } from "#shared/database/postgres.ts";
import type { Log } from "#shared/process/log.ts";
import type { Clock } from "#shared/values/clock.ts";
import type { Sealing } from "#shared/values/sealing.ts";
import { attemptTimeoutMsDefault, type Sender } from "../egress/sender.ts";
import type { DisableEndpoint } from "./health.ts";
import type { SendingMetrics } from "./metrics.ts";
import { slotCountsDefault, type SlotCounts } from "./slots.ts";

export interface LanesContext {
  database: Database;
  clock: Clock;
  log: Log;
  sealing: Sealing;
  sender: Sender;
  metrics: SendingMetrics;
  /** Disables an endpoint, and tells others of it. */
  disable: DisableEndpoint;
}

/** Limits, which tests make smaller. */
export interface LanesOptions {
  slotCounts?: SlotCounts;
  /** How long this process has a delivery to itself. Longer than an attempt can take. */
  leaseMs?: number;
  /** The interval of looks for what is due. */
  lookIntervalMs?: number;
  /** As the sender has it. */
  attemptTimeoutMs?: number;
  /** Draws from 0 to 1, for the spread of retries. */
  random?: () => number;
}

const leaseMsDefault = 60_000;
const lookIntervalMsDefault = 2_000;

export function optionsOf(given: LanesOptions): Required<LanesOptions> {
  return {
    slotCounts: slotCountsDefault,
    leaseMs: leaseMsDefault,
    lookIntervalMs: lookIntervalMsDefault,
    attemptTimeoutMs: attemptTimeoutMsDefault,
    random: Math.random,
    ...given,
  };
}
