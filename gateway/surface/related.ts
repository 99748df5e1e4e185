/** The profiles and metrics of events, for `include` and `expand`. */
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import type { Metric } from "#proto/daybook/metric/v1/metric_pb.ts";
import type { Profile } from "#proto/daybook/profile/v1/profile_pb.ts";
import { requireScope } from "../plugins/authentication.ts";
import type { Exchange } from "./exchange.ts";

/**
 * Reads the profiles and the metrics of events.
 * @param shown `profile` and `metric` where they are shown in full, which needs their read scopes. Profiles are read
 * only then.
 * @param metrics undefined to read no metrics; haveEvents makes metrics at once that still lag their first event.
 * @throws DaybookError `missing_scope`
 */
export async function readRelated(
  { caller, propertyId, services }: Exchange,
  events: readonly Event[],
  shown: ReadonlySet<string>,
  metrics: { haveEvents: boolean } | undefined,
): Promise<{ profiles: Profile[]; metrics: Metric[] }> {
  if (shown.has("profile")) requireScope(caller, "profiles:read");
  if (shown.has("metric")) requireScope(caller, "metrics:read");
  const profileIds = shown.has("profile")
    ? [...new Set(events.flatMap(({ profileId }) => (profileId === undefined ? [] : [profileId])))]
    : [];
  const names = metrics ? [...new Set(events.map(({ type }) => type))] : [];
  const [foundProfiles, foundMetrics] = await Promise.all([
    profileIds.length > 0 ? services.profiles.getProfiles({ propertyId, profileIds }) : undefined,
    names.length > 0 ? services.metrics.getMetrics({ propertyId, names, ...metrics }) : undefined,
  ]);
  return { profiles: foundProfiles?.profiles ?? [], metrics: foundMetrics?.metrics ?? [] };
}
