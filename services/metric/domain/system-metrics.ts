/** Metrics of the platform's own. */

// Nobody else can record events of these types.
const names: ReadonlySet<string> = new Set(["profile.created", "profile.merged", "profile.redacted"]);

/** Whether a metric counts events that the platform records itself. */
export function isSystemMetric(name: string): boolean {
  return names.has(name);
}
