/** Metrics of the platform's own. */
import { newUuid, type Uuid } from "#shared/values/ids.ts";

// Nobody else can record events of these types.
const names: ReadonlySet<string> = new Set(["profile.created", "profile.merged", "profile.redacted"]);

/** A metric that is to be registered. */
export function newMetric(name: string): { id: Uuid; name: string; system: boolean } {
  return { id: newUuid(), name, system: names.has(name) };
}
