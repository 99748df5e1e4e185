import type { SettingsReader } from "#shared/process/config.ts";
import { lastSweepDelaySecondsDefault } from "./redaction.ts";

/** Settings of the profile service. */
export interface ProfileSettings {
  /** How long after a redaction its last sweep is. */
  redactionSweepSeconds: number;
}

const sweepSecondsMax = 3_600;

/** Reads REDACTION_SWEEP_SECONDS. */
export function readProfileSettings(reader: SettingsReader): ProfileSettings {
  const seconds = reader.integer("REDACTION_SWEEP_SECONDS", lastSweepDelaySecondsDefault, 1, sweepSecondsMax);
  return { redactionSweepSeconds: seconds };
}
