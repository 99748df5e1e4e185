import type { SettingsReader } from "#shared/process/config.ts";
import { readPooler } from "#shared/process/service-process.ts";

/** Settings of the event service. */
export interface EventSettings {
  /** Events are kept for this many months after the month of their id; undefined keeps them forever. */
  retentionMonths: number | undefined;
}

const monthsMax = 1_200;

/** Reads EVENT_RETENTION_MONTHS. The default, 0, keeps all events. */
export function readEventSettings(reader: SettingsReader): EventSettings {
  const months = reader.integer("EVENT_RETENTION_MONTHS", 0, 0, monthsMax);
  if (months > 0 && readPooler(reader)) {
    // Partitions are detached under a lock of the session, which a transaction does not keep.
    reader.problem("EVENT_RETENTION_MONTHS must be 0 with DATABASE_POOLER=transaction");
  }
  return { retentionMonths: months === 0 ? undefined : months };
}
