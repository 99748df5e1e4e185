/** System metrics. */
import { newUuid, type Uuid } from "#shared/values/ids.ts";

// Callers cannot record events of these types.
const names: ReadonlySet<string> = new Set(["profile.created", "profile.merged", "profile.redacted"]);

/** A metric to register. */
export function newMetric(name: string): { id: Uuid; name: string; system: boolean } {
  return { id: newUuid(), name, system: names.has(name) };
}
