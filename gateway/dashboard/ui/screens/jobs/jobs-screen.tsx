/** Imports and jobs: what is written behind the answer, how far it is, and what was refused. */
import { getRouteApi } from "@tanstack/react-router";
import { apiCalls } from "../../api-calls.ts";
import { EqualsApiCall } from "../../components/api-call.tsx";
import { Copy } from "../../components/copy.tsx";
import { Segments } from "../../components/field.tsx";
import { PageHeader, Toolbar } from "../../components/page.tsx";
import { WithPanel } from "../../components/side-panel.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { type Column, LoadMore, Table } from "../../components/table.tsx";
import { Count, Time } from "../../components/values.tsx";
import { useProperty } from "../../data/viewer.ts";
import { type Job, type Kind, type State, useJobs } from "./job.ts";
import { JobPanel } from "./job-panel.tsx";
import { JobProgress, JobState } from "./job-state.tsx";
import "../../styles/metrics.css";

const route = getRouteApi("/$property/jobs");

const columns: readonly Column<Job>[] = [
  { id: "taken", title: "Received", cell: ({ createdAt }) => <Time at={createdAt} /> },
  { id: "state", title: "State", cell: (job) => <JobState job={job} /> },
  { id: "progress", title: "Progress", cell: (job) => <JobProgress job={job} /> },
  {
    id: "failed",
    title: "Failed",
    align: "end",
    cell: ({ failedCount }) =>
      failedCount === 0 ? <span className="muted">None</span> : <Count value={failedCount} />,
  },
  { id: "id", title: "Id", isMinor: true, cell: ({ id }) => <Copy text={id} short /> },
  { id: "kept", title: "Removed", isMinor: true, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
];

export function JobsScreen(): React.ReactNode {
  const { id: propertyId } = useProperty();
  const { of, state, job: openId } = route.useSearch();
  const kind: Kind = of ?? "profiles";
  const navigate = route.useNavigate();
  const list = useJobs(propertyId, kind, state);
  const set = (next: { of?: "events" | undefined; state?: State | undefined; job?: string | undefined }): void =>
    void navigate({ search: (before) => ({ ...before, ...next }) });

  return (
    <div className="screen">
      <PageHeader title="Imports and jobs" actions={<EqualsApiCall call={apiCalls.listImportJobs()} />}>
        Profiles and events that were sent in bulk, and are written after the answer. A job is kept for 7 days.
      </PageHeader>
      <Toolbar label="Filter">
        <Segments
          label="What"
          value={kind}
          options={[
            { value: "profiles", title: "Profiles" },
            { value: "events", title: "Events" },
          ]}
          onChange={(value) => set({ of: value === "events" ? value : undefined, job: undefined })}
        />
        <Segments
          label="State"
          value={state ?? "all"}
          options={[
            { value: "all", title: "All" },
            { value: "running", title: "Running" },
            { value: "complete", title: "Complete" },
          ]}
          onChange={(value) => set({ state: value === "all" ? undefined : value })}
        />
      </Toolbar>
      <WithPanel
        panel={
          openId !== undefined && (
            <JobPanel key={openId} kind={kind} jobId={openId} onClose={() => set({ job: undefined })} />
          )
        }
      >
        {list.isError && !list.jobs ? (
          <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        ) : (
          <Table
            label="Jobs"
            columns={columns}
            rows={list.jobs}
            keyOf={({ id }) => id}
            openKey={openId}
            onOpen={({ id }) => set({ job: id })}
            empty={<NoJobs kind={kind} state={state} />}
          />
        )}
        <LoadMore hasMore={list.hasNextPage} isLoading={list.isFetching} onMore={() => void list.fetchNextPage()} />
      </WithPanel>
    </div>
  );
}

function NoJobs({ kind, state }: { kind: Kind; state: State | undefined }): React.ReactNode {
  if (state !== undefined) {
    return (
      <EmptyState title={state === "running" ? "Nothing is running" : "Nothing is complete"}>
        <p>Choose All to see the others.</p>
      </EmptyState>
    );
  }
  const path = kind === "profiles" ? "/api/profile-bulk-import-jobs" : "/api/event-bulk-create-jobs";
  return (
    <EmptyState title={kind === "profiles" ? "No imports in the last 7 days" : "No jobs in the last 7 days"}>
      <p>
        A client of the compatibility surface starts one by <code>POST {path}</code>. Its progress appears here.
      </p>
    </EmptyState>
  );
}
