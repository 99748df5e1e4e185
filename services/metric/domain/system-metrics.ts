/** System metrics. */
import { newUuid, type Uuid } from "#shared/values/ids.ts";

/** Counts the profiles that are made. */
export const createdMetric = "profile.created";

// Callers cannot record events of these types.
const names: ReadonlySet<string> = new Set([createdMetric, "profile.merged", "profile.redacted"]);

/** A metric to register. */
export function newMetric(name: string): { id: Uuid; name: string; system: boolean } {
  return { id: newUuid(), name, system: names.has(name) };
}
