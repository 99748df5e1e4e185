/** What a profile did: its events and those of the profiles that were merged into it. */
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { getRouteApi } from "@tanstack/react-router";
import { type Event, EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { type Profile, ProfileStatus } from "#proto/daybook/profile/v1/profile_pb.ts";
import { apiCalls } from "../../api-calls.ts";
import { EqualsApiCall } from "../../components/api-call.tsx";
import { ComboBox } from "../../components/combo-box.tsx";
import { Segments } from "../../components/field.tsx";
import { Badge, Toolbar } from "../../components/page.tsx";
import { WithPanel } from "../../components/side-panel.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { type Column, LoadMore, Table } from "../../components/table.tsx";
import { Amount, Time } from "../../components/values.tsx";
import { firstPage } from "../../data/pages.ts";
import { useMay, useProperty } from "../../data/viewer.ts";
import { EventPanel } from "./event-panel.tsx";
import { shortId } from "./person.tsx";

const route = getRouteApi("/$property/profiles/$profile");
const pageSize = 50;
const metricsMax = 500;
const emptyingMs = 2_000;
const emptyingMaxMs = 180_000;

const columns: readonly Column<Event>[] = [
  { id: "type", title: "Type", cell: ({ type }) => <code className="clamp">{type}</code> },
  {
    id: "value",
    title: "Value",
    align: "end",
    cell: ({ value, currency }) => value !== undefined && <Amount value={value} currency={currency} />,
  },
  { id: "source", title: "Source", cell: ({ source }) => source, isMinor: true },
  { id: "time", title: "Occurred", cell: ({ occurredAt }) => <Time at={occurredAt} /> },
  { id: "merged", title: "Recorded for", cell: (event) => <RecordedFor of={event} /> },
];

/** After a redaction, properties of events go within seconds: the list is read anew until they are gone. */
function isBeingEmptied({ status, updatedAt }: Profile, events: readonly Event[]): boolean {
  if (status !== ProfileStatus.REDACTED || !updatedAt) return false;
  const isRecent = Date.now() - timestampDate(updatedAt).getTime() < emptyingMaxMs;
  return isRecent && events.some(({ propertiesJson }) => propertiesJson !== "{}");
}

/** Marks what a merged profile did. */
export function RecordedFor({ of: { recordedFor } }: { of: Event }): React.ReactNode {
  if (recordedFor === undefined) return null;
  return (
    <span title={`Recorded for ${recordedFor}, which was merged into this profile`}>
      <Badge tone="warning">Merged</Badge> <code>{shortId(recordedFor)}</code>
    </span>
  );
}

export function Timeline({ of: profile }: { of: Profile }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const { id: profileId } = profile;
  const { type, order, event: openId } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(
    EventService.method.listEvents,
    {
      propertyId,
      profileId,
      ...(type !== undefined && { type }),
      ascending: order === "oldest",
      limit: pageSize,
      after: firstPage,
    },
    {
      pageParamKey: "after",
      getNextPageParam: ({ events, hasMore }) => {
        const last = events.at(-1);
        return hasMore && last ? { time: last.occurredAt, eventId: last.id } : undefined;
      },
      refetchInterval: ({ state }) =>
        isBeingEmptied(profile, state.data?.pages.flatMap(({ events }) => events) ?? []) && emptyingMs,
    },
  );
  const rows = list.data?.pages.flatMap(({ events }) => events);
  const inList = rows?.find(({ id }) => id === openId);
  // A link may lead to an event that is not on the first page.
  const single = useQuery(
    EventService.method.getEvents,
    { propertyId, eventIds: [openId ?? ""] },
    { enabled: openId !== undefined && rows !== undefined && !inList },
  );
  const open = inList ?? single.data?.events.find((event) => event.id === openId && event.profileId === profileId);
  const set = (next: { type?: string | undefined; order?: "oldest" | undefined; event?: string | undefined }): void =>
    void navigate({ search: (before) => ({ ...before, ...next }), resetScroll: false });
  return (
    <div className="section">
      <Toolbar label="Filter">
        <TypeFilter type={type} onChange={(value) => set({ type: value })} />
        <Segments
          label="Order"
          value={order ?? "newest"}
          options={[
            { value: "newest", title: "Newest first" },
            { value: "oldest", title: "Oldest first" },
          ]}
          onChange={(value) => set({ order: value === "oldest" ? "oldest" : undefined })}
        />
        <EqualsApiCall
          call={apiCalls.listEvents({
            "filter[profile_id]": profileId,
            "filter[type]": type,
            sort: order === "oldest" ? "occurred_at" : "-occurred_at",
            "page[limit]": String(pageSize),
          })}
        />
      </Toolbar>
      <WithPanel panel={open && <EventPanel of={open} onClose={() => set({ event: undefined })} />}>
        {list.isError ? (
          <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        ) : (
          <Table
            label="Timeline"
            columns={columns}
            rows={rows}
            keyOf={({ id }) => id}
            openKey={open?.id}
            onOpen={({ id }) => set({ event: id })}
            empty={<NoEvents type={type} onClear={() => set({ type: undefined })} />}
          />
        )}
        <LoadMore
          hasMore={list.hasNextPage}
          isLoading={list.isFetchingNextPage}
          onMore={() => void list.fetchNextPage()}
        />
      </WithPanel>
    </div>
  );
}

function TypeFilter({
  type,
  onChange,
}: {
  type: string | undefined;
  onChange: (type: string | undefined) => void;
}): React.ReactNode {
  const { id: propertyId } = useProperty();
  const { data } = useQuery(
    MetricService.method.listMetrics,
    { propertyId, limit: metricsMax },
    { enabled: useMay("metrics:read") },
  );
  const names = (data?.metrics ?? []).map(({ name }) => name).toSorted();
  return (
    <>
      <ComboBox
        label="Type of event"
        isLabelHidden
        allowsOther
        placeholder="Any type of event"
        value={type ?? ""}
        options={names.map((name) => ({ value: name, title: name }))}
        onChange={(value) => {
          if (value.trim() !== (type ?? "")) onChange(value.trim() === "" ? undefined : value.trim());
        }}
      />
      {type !== undefined && (
        <button type="button" className="button quiet" onClick={() => onChange(undefined)}>
          Any type
        </button>
      )}
    </>
  );
}

function NoEvents({ type, onClear }: { type: string | undefined; onClear: () => void }): React.ReactNode {
  if (type === undefined) {
    return (
      <EmptyState title="No events" level={3}>
        <p>An event that names this profile, or one of its identifiers, appears here.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title={`No events of the type ${type}`} level={3}>
      <button type="button" className="button" onClick={onClear}>
        Show all types
      </button>
    </EmptyState>
  );
}
