/** Settings of the event service, in whatever process it runs. */
import type { SettingsReader } from "#shared/process/config.ts";

/** See readEventSettings. */
export interface EventSettings {
  /** For how many months after the one in which they were received events are kept; undefined for ever. */
  retentionMonths: number | undefined;
}

const monthsMax = 1_200;

/** Reads EVENT_RETENTION_MONTHS; 0, which it is unless it is set, keeps all. */
export function readEventSettings(reader: SettingsReader): EventSettings {
  const months = reader.integer("EVENT_RETENTION_MONTHS", 0, 0, monthsMax);
  return { retentionMonths: months === 0 ? undefined : months };
}
