/** Overview: whether events arrive, what they come to, and what needs attention. */
import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { apiCalls } from "../../api-calls.ts";
import { EqualsApiCall } from "../../components/api-call.tsx";
import { PageHeader } from "../../components/page.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { ErrorState } from "../../components/states.tsx";
import { Time } from "../../components/values.tsx";
import { useMay, useProperty } from "../../data/viewer.ts";
import { Activity } from "./activity.tsx";
import { FirstRun } from "./first-run.tsx";
import { LatestEvents } from "./latest-events.tsx";
import { KeysNearLimit, RunningJobs } from "./work.tsx";
import "../../styles/overview.css";

const latestMax = 8;
const days = 30;
const minutes = 60;
// Whoever waits for a first event looks at the screen.
const reread = { waitingMs: 1_000, latestMs: 5_000, recentMs: 10_000, daysMs: 30_000 };

export function OverviewScreen(): React.ReactNode {
  const { id: propertyId, timezone } = useProperty();
  const mayReadEvents = useMay("events:read");
  const mayReadMetrics = useMay("metrics:read");
  const latest = useQuery(
    EventService.method.listEvents,
    { propertyId, limit: latestMax, withoutSystem: true },
    {
      enabled: mayReadEvents,
      refetchInterval: ({ state }) => (state.data?.events.length === 0 ? reread.waitingMs : reread.latestMs),
    },
  );
  const isEmpty = latest.data?.events.length === 0;
  // Once begun, the card stays until it is closed, also when the event is there.
  const [isStarting, setStarting] = useState(false);
  const isFirstRun = isEmpty || isStarting;
  const activity = useQuery(
    MetricService.method.describeActivity,
    { propertyId, days, timezone, withoutSystem: true },
    { enabled: mayReadMetrics && latest.isFetched && !isFirstRun, refetchInterval: reread.daysMs },
  );
  const recent = useQuery(
    EventService.method.countRecentEvents,
    { propertyId, minutes, withoutSystem: true },
    { enabled: mayReadEvents && latest.isFetched && !isFirstRun, refetchInterval: reread.recentMs },
  );
  const asOf = activity.data?.asOf;

  return (
    <div className="screen">
      <PageHeader title="Overview" actions={<EqualsApiCall call={apiCalls.listEvents()} />}>
        {asOf && !isFirstRun ? (
          <>
            As of <Time at={asOf} absolute />. Days are those of {timezone}.
          </>
        ) : (
          "Whether events arrive, and what they come to."
        )}
      </PageHeader>
      {latest.isPending && mayReadEvents && <Skeleton lines={10} />}
      {latest.isError && !latest.data && <ErrorState error={latest.error} onRetry={() => void latest.refetch()} />}
      {isFirstRun && <FirstRun event={latest.data?.events[0]} isStarting={isStarting} onStarting={setStarting} />}
      {latest.data && !isFirstRun && (
        <>
          <Activity activity={activity} recent={recent} timezone={timezone} />
          <RunningJobs />
          <KeysNearLimit />
          <LatestEvents events={latest.data.events} />
        </>
      )}
    </div>
  );
}
