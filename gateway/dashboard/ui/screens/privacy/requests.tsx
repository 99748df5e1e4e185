/** What persons asked for, newest first. */
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import {
  type PrivacyRequest,
  PrivacyRequestStatus,
  PrivacyRequestType,
  PrivacyService,
} from "#proto/daybook/profile/v1/privacy_pb.ts";
import { Icon } from "../../components/icon.tsx";
import { Segments, Select } from "../../components/field.tsx";
import { Toolbar } from "../../components/page.tsx";
import { WithPanel } from "../../components/side-panel.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { type Column, LoadMore, Table } from "../../components/table.tsx";
import { Time } from "../../components/values.tsx";
import { firstPage } from "../../data/pages.ts";
import { useProperty } from "../../data/viewer.ts";
import { RequestPanel } from "./request-panel.tsx";
import { Due, isUnderWay, RequestState, soonDays, Subject, typeOf } from "./states.tsx";

const pageSize = 50;
// Only while one is carried out.
const rereadMs = 3_000;
const dayMs = 86_400_000;

const statuses = {
  open: [PrivacyRequestStatus.PENDING, PrivacyRequestStatus.IN_PROGRESS, PrivacyRequestStatus.FAILED],
  completed: [PrivacyRequestStatus.COMPLETED],
  failed: [PrivacyRequestStatus.FAILED],
  cancelled: [PrivacyRequestStatus.CANCELLED],
} as const;

const types = { access: PrivacyRequestType.ACCESS, erasure: PrivacyRequestType.ERASURE } as const;

export interface RequestFilter {
  type?: keyof typeof types | undefined;
  status?: keyof typeof statuses | undefined;
  due?: "overdue" | "soon" | undefined;
  profile?: string | undefined;
  reference?: string | undefined;
}

const columns: readonly Column<PrivacyRequest>[] = [
  { id: "type", title: "Request", cell: (request) => <span className="nowrap">{typeOf(request)}</span> },
  { id: "subject", title: "Person", cell: (request) => <Subject of={request} /> },
  { id: "state", title: "State", cell: (request) => <RequestState of={request} /> },
  { id: "due", title: "Due", cell: (request) => <Due of={request} /> },
  {
    id: "reference",
    title: "Reference",
    isMinor: true,
    cell: ({ reference }) => reference !== undefined && <span className="clamp">{reference}</span>,
  },
  { id: "created", title: "Created", isMinor: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

export function Requests({
  filter,
  now,
  openId,
  onFilter,
  onOpen,
}: {
  filter: RequestFilter;
  /** What is due is compared with it. */
  now: Date;
  openId: string | undefined;
  onFilter: (change: RequestFilter) => void;
  onOpen: (id: string | undefined) => void;
}): React.ReactNode {
  const { id: propertyId } = useProperty();
  const { type, status, due, profile, reference } = filter;
  const list = useInfiniteQuery(
    PrivacyService.method.listPrivacyRequests,
    {
      propertyId,
      ...(type !== undefined && { type: types[type] }),
      // What is settled is not late any more.
      statuses: [...(status !== undefined ? statuses[status] : due === undefined ? [] : statuses.open)],
      ...(due !== undefined && { dueAt: dueRange(due, now) }),
      ...(profile !== undefined && { profileId: profile }),
      ...(reference !== undefined && { reference }),
      limit: pageSize,
      afterPrivacyRequestId: firstPage,
    },
    {
      pageParamKey: "afterPrivacyRequestId",
      getNextPageParam: ({ requests, hasMore }) => (hasMore ? requests.at(-1)?.id : undefined),
      refetchInterval: ({ state }) =>
        state.data?.pages.some(({ requests }) => requests.some(isUnderWay)) ? rereadMs : false,
    },
  );
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  return (
    <>
      <Toolbar label="Filter">
        <Segments
          label="Kind"
          value={type ?? "all"}
          options={[
            { value: "all", title: "All" },
            { value: "access", title: "Access" },
            { value: "erasure", title: "Erasure" },
          ]}
          onChange={(value) => onFilter({ type: value === "all" ? undefined : value })}
        />
        <Select
          label="State"
          isLabelHidden
          value={status ?? ""}
          options={[
            { value: "", title: "Any state" },
            { value: "open", title: "Open" },
            { value: "completed", title: "Completed" },
            { value: "failed", title: "Failed" },
            { value: "cancelled", title: "Cancelled" },
          ]}
          onChange={(value) => onFilter({ status: value === "" ? undefined : value })}
        />
        <Select
          label="Due"
          isLabelHidden
          value={due ?? ""}
          options={[
            { value: "", title: "Due at any time" },
            { value: "overdue", title: "Overdue" },
            { value: "soon", title: `Due within ${soonDays} days` },
          ]}
          onChange={(value) => onFilter({ due: value === "" ? undefined : value })}
        />
        {profile !== undefined && (
          <button type="button" className="button small" onClick={() => onFilter({ profile: undefined })}>
            <span className="muted">Profile</span> <code>{`prof_…${profile.slice(-6)}`}</code>
            <Icon name="close" />
            <span className="hidden">Take away</span>
          </button>
        )}
        {reference !== undefined && (
          <button type="button" className="button small" onClick={() => onFilter({ reference: undefined })}>
            <span className="muted">Reference</span> <span className="clamp">{reference}</span>
            <Icon name="close" />
            <span className="hidden">Take away</span>
          </button>
        )}
      </Toolbar>
      <WithPanel
        panel={
          openId !== undefined && <RequestPanel key={openId} requestId={openId} onClose={() => onOpen(undefined)} />
        }
      >
        {list.isError ? (
          <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        ) : (
          <Table
            label="Privacy requests"
            columns={columns}
            rows={list.data?.pages.flatMap(({ requests }) => requests)}
            keyOf={({ id }) => id}
            openKey={openId}
            onOpen={({ id }) => onOpen(id)}
            empty={<NoRequests isFiltered={isFiltered} />}
          />
        )}
        <LoadMore
          hasMore={list.hasNextPage}
          isLoading={list.isFetchingNextPage}
          onMore={() => void list.fetchNextPage()}
        />
      </WithPanel>
    </>
  );
}

function dueRange(due: "overdue" | "soon", now: Date) {
  const soon = new Date(now.getTime() + soonDays * dayMs);
  if (due === "overdue") return { lt: timestampFromDate(now) };
  return { gte: timestampFromDate(now), lt: timestampFromDate(soon) };
}

/** As the API has the filter: with one state of one request, so that "open" is all that is not settled. */
export function toQuery({ type, status, due, profile, reference }: RequestFilter, now: Date) {
  const range = due === undefined ? undefined : dueRange(due, now);
  const soon = new Date(now.getTime() + soonDays * dayMs);
  return {
    "filter[type]": type,
    "filter[status]": status === "open" ? undefined : status,
    "filter[profile_id]": profile,
    "filter[reference]": reference,
    "filter[due_at][gte]": range && "gte" in range ? now.toISOString() : undefined,
    "filter[due_at][lt]": range && (due === "soon" ? soon : now).toISOString(),
    "page[limit]": String(pageSize),
  };
}

function NoRequests({ isFiltered }: { isFiltered: boolean }): React.ReactNode {
  return isFiltered ? (
    <EmptyState title="No request is like that">
      <p>Choose All, any state and any time to see the others.</p>
    </EmptyState>
  ) : (
    <EmptyState title="No privacy requests yet">
      <p>
        When a person asks what is kept of her, or to be forgotten, create a request. Daybook finds all that belongs to
        her, exports or erases it, and says here how far it is and by when it must be done.
      </p>
    </EmptyState>
  );
}
