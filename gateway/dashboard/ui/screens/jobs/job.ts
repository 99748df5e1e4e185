/** Imports of profiles and jobs of events in one form: both services tell of them alike. */
import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { type EventJob, EventJobStatus, EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { type ImportJob, ImportJobStatus, ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { Tone } from "../../components/page.tsx";
import { firstPage } from "../../data/pages.ts";

export type Job = ImportJob | EventJob;

/** What a job writes. */
export type Kind = "profiles" | "events";

/** Which jobs. */
export type State = "running" | "complete";

const pageSize = 50;
// Only while one is running.
const rereadMs = 2000;

export function stateOf({ status, failedCount }: Job): { word: string; tone: Tone; isRunning: boolean } {
  if (status === ImportJobStatus.QUEUED || status === EventJobStatus.QUEUED) {
    return { word: "Queued", tone: "neutral", isRunning: true };
  }
  if (status === ImportJobStatus.PROCESSING || status === EventJobStatus.PROCESSING) {
    return { word: "Running", tone: "accent", isRunning: true };
  }
  return failedCount > 0
    ? { word: "Complete, with failures", tone: "warning", isRunning: false }
    : { word: "Complete", tone: "good", isRunning: false };
}

interface PageOfJobs {
  jobs: readonly Job[];
  hasMore: boolean;
}

const paging = {
  pageParamKey: "afterJobId",
  getNextPageParam: ({ jobs, hasMore }: PageOfJobs) => (hasMore ? jobs.at(-1)?.id : undefined),
  refetchInterval: ({ state }: { state: { data?: { pages: readonly PageOfJobs[] } | undefined } }) =>
    state.data?.pages.some(({ jobs }) => jobs.some((job) => stateOf(job).isRunning)) ? rereadMs : false,
} as const;

/** The jobs of a kind, newest first, read anew while one is running. */
export function useJobs(propertyId: string, kind: Kind, state: State | undefined) {
  const page = { propertyId, limit: pageSize, afterJobId: firstPage };
  const imports = useInfiniteQuery(
    ProfileService.method.listImportJobs,
    { ...page, statuses: importStatuses(state) },
    { ...paging, enabled: kind === "profiles" },
  );
  const events = useInfiniteQuery(
    EventService.method.listEventJobs,
    { ...page, statuses: eventStatuses(state) },
    { ...paging, enabled: kind === "events" },
  );
  const { data, error, isError, isFetching, hasNextPage, fetchNextPage, refetch } =
    kind === "profiles" ? imports : events;
  const jobs = data?.pages.flatMap((one): readonly Job[] => one.jobs);
  return { jobs, error, isError, isFetching, hasNextPage, fetchNextPage, refetch };
}

function importStatuses(state: State | undefined): ImportJobStatus[] {
  if (state === undefined) return [];
  return state === "complete" ? [ImportJobStatus.COMPLETE] : [ImportJobStatus.QUEUED, ImportJobStatus.PROCESSING];
}

function eventStatuses(state: State | undefined): EventJobStatus[] {
  if (state === undefined) return [];
  return state === "complete" ? [EventJobStatus.COMPLETE] : [EventJobStatus.QUEUED, EventJobStatus.PROCESSING];
}

const oneJob = {
  refetchInterval: ({ state }: { state: { data?: { job?: Job | undefined } | undefined } }) =>
    state.data?.job && stateOf(state.data.job).isRunning ? rereadMs : false,
} as const;

/** One job, read anew while it is running. */
export function useJob(propertyId: string, kind: Kind, jobId: string) {
  const imported = useQuery(
    ProfileService.method.getImportJob,
    { propertyId, jobId },
    { ...oneJob, enabled: kind === "profiles" },
  );
  const ofEvents = useQuery(
    EventService.method.getEventJob,
    { propertyId, jobId },
    { ...oneJob, enabled: kind === "events" },
  );
  const { data, error, isError, refetch } = kind === "profiles" ? imported : ofEvents;
  return { job: data?.job, error, isError, refetch };
}
