/** One job: how far it is, what was refused and why, and what it wrote. */
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { Copy } from "../../components/copy.tsx";
import { KeyValues } from "../../components/page.tsx";
import { SidePanel } from "../../components/side-panel.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { ErrorState } from "../../components/states.tsx";
import { LoadMore } from "../../components/table.tsx";
import { Count, Time } from "../../components/values.tsx";
import { firstPage } from "../../data/pages.ts";
import { useMay, useProperty } from "../../data/viewer.ts";
import { type Kind, stateOf, useJob } from "./job.ts";
import { EventFailures, ImportFailures } from "./job-failures.tsx";
import { JobProgress, JobState } from "./job-state.tsx";

const profilesPage = 20;

export function JobPanel({
  kind,
  jobId,
  onClose,
}: {
  kind: Kind;
  jobId: string;
  onClose: () => void;
}): React.ReactNode {
  const { id: propertyId } = useProperty();
  const mayReadProfiles = useMay("profiles:read");
  const { job, error, isError, refetch } = useJob(propertyId, kind, jobId);
  // What is shown of a job is read anew when it is complete.
  const isRunning = job !== undefined && stateOf(job).isRunning;
  const title = kind === "profiles" ? "Import of profiles" : "Job of events";
  return (
    <SidePanel title={title} onClose={onClose}>
      {isError && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!isError && !job && <Skeleton lines={6} />}
      {job && (
        <>
          <JobProgress job={job} />
          <KeyValues
            rows={{
              State: <JobState job={job} />,
              Id: <Copy text={job.id} />,
              Items: <Count value={job.totalCount} />,
              Written: <Count value={job.completedCount} />,
              Failed: <Count value={job.failedCount} />,
              Taken: <Time at={job.createdAt} focusable />,
              Begun: job.startedAt && <Time at={job.startedAt} focusable />,
              Complete: job.completedAt && <Time at={job.completedAt} focusable />,
              Forgotten: <Time at={job.expiresAt} focusable />,
            }}
          />
          {job.failedCount > 0 &&
            (kind === "profiles" ? (
              <ImportFailures key={String(isRunning)} jobId={jobId} isRunning={isRunning} />
            ) : (
              <EventFailures key={String(isRunning)} jobId={jobId} isRunning={isRunning} />
            ))}
          {kind === "profiles" && job.completedCount > 0 && mayReadProfiles && (
            <ImportedProfiles key={String(isRunning)} jobId={jobId} />
          )}
        </>
      )}
    </SidePanel>
  );
}

function ImportedProfiles({ jobId }: { jobId: string }): React.ReactNode {
  const { id: property } = useProperty();
  const list = useInfiniteQuery(
    ProfileService.method.listImportedProfiles,
    { propertyId: property, jobId, limit: profilesPage, afterProfileId: firstPage },
    {
      pageParamKey: "afterProfileId",
      getNextPageParam: ({ hasMore, lastProfileId }) => (hasMore ? lastProfileId : undefined),
      staleTime: 0,
    },
  );
  const profiles = list.data?.pages.flatMap((page) => page.profiles);
  return (
    <>
      <h3>Profiles written</h3>
      {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {!list.isError && !profiles && <Skeleton lines={2} />}
      <ul className="plain">
        {profiles?.map(({ id }) => (
          <li key={id}>
            <Link
              // The screen of profiles is data here, as in the navigation.
              to={`/$property/profiles/${id}` as "/$property/overview"}
              params={{ property }}
            >
              <code>{id}</code>
            </Link>
          </li>
        ))}
      </ul>
      <LoadMore hasMore={list.hasNextPage} isLoading={list.isFetching} onMore={() => void list.fetchNextPage()} />
    </>
  );
}
