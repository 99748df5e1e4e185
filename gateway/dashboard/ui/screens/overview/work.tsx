/** What needs attention, in sight only while there is any: imports that run, and keys near their limit. */
import { useQuery } from "@connectrpc/connect-query";
import { EventJobStatus, EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { IdentityService, RateWindow } from "#proto/daybook/identity/v1/identity_pb.ts";
import { ImportJobStatus, ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { Badge, Progress, Section } from "../../components/page.tsx";
import { Count, Time } from "../../components/values.tsx";
import { useMay, useProperty } from "../../data/viewer.ts";

const jobsMax = 5;
const keysMax = 500;
const rereadMs = 10_000;
/** A window that is this full is near its limit. */
const nearPercent = 80;

export function RunningJobs(): React.ReactNode {
  const { id: propertyId } = useProperty();
  const mayRead = useMay("imports:read");
  const options = { enabled: mayRead, refetchInterval: rereadMs };
  const profiles = useQuery(
    ProfileService.method.listImportJobs,
    { propertyId, limit: jobsMax, statuses: [ImportJobStatus.QUEUED, ImportJobStatus.PROCESSING] },
    options,
  );
  const events = useQuery(
    EventService.method.listEventJobs,
    { propertyId, limit: jobsMax, statuses: [EventJobStatus.QUEUED, EventJobStatus.PROCESSING] },
    options,
  );
  const jobs = [
    ...(profiles.data?.jobs ?? []).map((job) => ({ what: "Profiles", job })),
    ...(events.data?.jobs ?? []).map((job) => ({ what: "Events", job })),
  ];
  if (jobs.length === 0) return null;
  return (
    <Section title="Imports running">
      <ul className="work-list">
        {jobs.map(({ what, job: { id, completedCount, failedCount, totalCount, createdAt } }) => (
          <li key={id}>
            <span>
              {what}, begun <Time at={createdAt} />
            </span>
            <Progress label={`${what} ${id}`} done={completedCount + failedCount} total={totalCount} />
            {failedCount > 0 && (
              <Badge tone="bad">
                <Count value={failedCount} /> failed
              </Badge>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

export function KeysNearLimit(): React.ReactNode {
  const { id: propertyId } = useProperty();
  const mayManage = useMay("keys:manage");
  const use = useQuery(
    IdentityService.method.listRateWindows,
    { propertyId, limit: keysMax },
    { enabled: mayManage, refetchInterval: rereadMs },
  );
  const near = (use.data?.windows ?? []).filter(({ granted, limit }) => granted * 100 >= limit * nearPercent);
  const keys = useQuery(
    IdentityService.method.listKeys,
    { propertyId, limit: keysMax },
    { enabled: mayManage && near.length > 0, staleTime: 60_000 },
  );
  if (near.length === 0) return null;
  const nameOf = (keyId: string): string => keys.data?.keys.find(({ id }) => id === keyId)?.name ?? keyId;
  return (
    <Section title="Keys near their limit this minute">
      <ul className="work-list">
        {near.map(({ keyId, window, granted, limit }) => (
          <li key={`${keyId} ${window}`}>
            <span>
              {nameOf(keyId)} <Badge tone="warning">{window === RateWindow.BACKFILL ? "backfill" : "requests"}</Badge>
            </span>
            <Progress label={`${nameOf(keyId)}, requests this minute`} done={Math.min(granted, limit)} total={limit} />
          </li>
        ))}
      </ul>
    </Section>
  );
}
