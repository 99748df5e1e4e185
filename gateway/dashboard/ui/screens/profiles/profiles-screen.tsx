/** Profiles: one search box, and below it a list of all, newest first. */
import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { type Profile, ProfileService, ProfileSort, ProfileStatus } from "#proto/daybook/profile/v1/profile_pb.ts";
import { apiCalls } from "../../api-calls.ts";
import { EqualsApiCall } from "../../components/api-call.tsx";
import { DateRange } from "../../components/date-range.tsx";
import { Segments, Select, TextField } from "../../components/field.tsx";
import { PageHeader, Toolbar } from "../../components/page.tsx";
import { ErrorState } from "../../components/states.tsx";
import { type Column, LoadMore, Table } from "../../components/table.tsx";
import { Time } from "../../components/values.tsx";
import { firstPage } from "../../data/pages.ts";
import { rangeAt } from "../../data/range.ts";
import { useProperty } from "../../data/viewer.ts";
import { FindForm, useFinding } from "./find-profile.tsx";
import { useLastEvents } from "./last-events.ts";
import { IdentifiersInShort, PersonLink, StatusBadge, TagList } from "./person.tsx";
import "../../styles/profiles.css";

const NoProfiles = lazy(() => import("./no-profiles.tsx"));

const route = getRouteApi("/$property/profiles");
const pageSize = 50;
const statuses = {
  active: ProfileStatus.ACTIVE,
  merged: ProfileStatus.MERGED,
  redacted: ProfileStatus.REDACTED,
} as const;

interface Filter {
  status?: "merged" | "redacted" | undefined;
  tag?: string | undefined;
  created?: string | undefined;
  updated?: string | undefined;
  sort?: "updated" | undefined;
  order?: "oldest" | undefined;
}

export function ProfilesScreen(): React.ReactNode {
  const { id: propertyId } = useProperty();
  const filter: Filter = route.useSearch();
  const navigate = route.useNavigate();
  const { status = "active", tag, created, updated, sort, order } = filter;
  // From here presets count, so that a list does not move under its reader.
  const [openedAt] = useState(() => new Date());
  const createdAt = toRange(created, openedAt);
  const updatedAt = toRange(updated, openedAt);
  const finding = useFinding(
    ({ profileId, eventId }) =>
      void navigate({
        to: "/$property/profiles/$profile",
        params: { property: propertyId, profile: profileId },
        search: eventId === undefined ? {} : { event: eventId },
      }),
  );
  const list = useInfiniteQuery(
    ProfileService.method.listProfiles,
    {
      propertyId,
      status: statuses[status],
      ...(tag !== undefined && { tag }),
      ...(createdAt && { createdAt }),
      ...(updatedAt && { updatedAt }),
      sort: sort === "updated" ? ProfileSort.UPDATED_AT : ProfileSort.CREATED_AT,
      ascending: order === "oldest",
      limit: pageSize,
      after: firstPage,
    },
    {
      pageParamKey: "after",
      getNextPageParam: ({ profiles, hasMore }) => {
        const last = profiles.at(-1);
        return hasMore && last
          ? { time: sort === "updated" ? last.updatedAt : last.createdAt, profileId: last.id }
          : undefined;
      },
    },
  );
  const rows = list.data?.pages.flatMap(({ profiles }) => profiles);
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const set = (next: Filter): void => void navigate({ search: (before) => ({ ...before, ...next }) });
  const lastEvents = useLastEvents(propertyId, list.data?.pages ?? []);
  const columns = columnsFor(propertyId, status !== "active", lastEvents);
  return (
    <div className="screen">
      <PageHeader title="Profiles" actions={<EqualsApiCall call={apiCalls.listProfiles(toQuery(filter, openedAt))} />}>
        Who your customers are, and what each of them did.
      </PageHeader>
      <FindForm finding={finding} label="Find a profile">
        {finding.choices.length > 0 && (
          <section aria-label="Found profiles" className="found">
            <h2>{finding.choices.length} profiles match</h2>
            <ul>
              {finding.choices.map(
                ({ profile, matchedBy, identifierType }) =>
                  profile && (
                    <li key={profile.id}>
                      <PersonLink of={profile} property={propertyId} /> <IdentifiersInShort of={profile} />
                      <span className="muted">by {identifierType ?? matchedBy}</span>
                    </li>
                  ),
              )}
            </ul>
          </section>
        )}
      </FindForm>
      <Toolbar label="Filter">
        <Segments
          label="Status"
          value={status}
          options={[
            { value: "active", title: "Active" },
            { value: "merged", title: "Merged" },
            { value: "redacted", title: "Redacted" },
          ]}
          onChange={(value) => set({ status: value === "active" ? undefined : value })}
        />
        <TagFilter key={tag} tag={tag} onChange={(value) => set({ tag: value })} />
        <DateRange
          label="Created"
          allowsAny
          value={created ?? ""}
          onChange={(value) => set({ created: value === "" ? undefined : value })}
        />
        <DateRange
          label="Updated"
          allowsAny
          value={updated ?? ""}
          onChange={(value) => set({ updated: value === "" ? undefined : value })}
        />
        <Select
          label="Order"
          isLabelHidden
          value={`${order ?? "newest"} ${sort ?? "created"}`}
          options={[
            { value: "newest created", title: "Newest first" },
            { value: "oldest created", title: "Oldest first" },
            { value: "newest updated", title: "Last updated first" },
            { value: "oldest updated", title: "Longest not updated first" },
          ]}
          onChange={(value) =>
            set({
              order: value.startsWith("oldest") ? "oldest" : undefined,
              sort: value.endsWith("updated") ? "updated" : undefined,
            })
          }
        />
      </Toolbar>
      {list.isError ? (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Table
          label="Profiles"
          columns={columns}
          rows={rows}
          keyOf={({ id }) => id}
          empty={
            <Suspense>
              <NoProfiles isFiltered={isFiltered} onClear={() => void navigate({ search: {} })} />
            </Suspense>
          }
        />
      )}
      <LoadMore
        hasMore={list.hasNextPage}
        isLoading={list.isFetchingNextPage}
        onMore={() => void list.fetchNextPage()}
      />
    </div>
  );
}

/** A preset has a beginning only: what is made meanwhile belongs to it. */
function toRange(given: string | undefined, now: Date) {
  if (given === undefined) return undefined;
  const { from, to } = rangeAt(given, now);
  return { gte: timestampFromDate(from), ...(given.includes("~") && { lt: timestampFromDate(to) }) };
}

function toQuery(
  { status, tag, created, updated, sort, order }: Filter,
  now: Date,
): Record<string, string | undefined> {
  const range = (name: string, given: string | undefined) => {
    if (given === undefined) return {};
    const { from, to } = rangeAt(given, now);
    return {
      [`filter[${name}][gte]`]: from.toISOString(),
      [`filter[${name}][lt]`]: given.includes("~") ? to.toISOString() : undefined,
    };
  };
  return {
    "filter[status]": status,
    "filter[tag]": tag,
    ...range("created_at", created),
    ...range("updated_at", updated),
    sort: `${order === "oldest" ? "" : "-"}${sort === "updated" ? "updated_at" : "created_at"}`,
    expand: "identifiers",
    "page[limit]": String(pageSize),
  };
}

function columnsFor(
  property: string,
  withStatus: boolean,
  lastEvents: ReadonlyMap<string, Timestamp>,
): Column<Profile>[] {
  return [
    { id: "person", title: "Profile", cell: (profile) => <PersonLink of={profile} property={property} /> },
    { id: "identifiers", title: "Identifiers", cell: (profile) => <IdentifiersInShort of={profile} /> },
    ...(withStatus
      ? [{ id: "status", title: "Status", cell: ({ status }: Profile) => <StatusBadge status={status} /> }]
      : []),
    { id: "tags", title: "Tags", cell: ({ tags }) => <TagList tags={tags} /> },
    { id: "event", title: "Last event", cell: ({ id }) => <Time at={lastEvents.get(id)} /> },
    { id: "updated", title: "Updated", cell: ({ updatedAt }) => <Time at={updatedAt} />, isMinor: true },
    { id: "created", title: "Created", cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
}

/** Applies when it is left or sent, so that no list is read for half a word. */
function TagFilter({
  tag = "",
  onChange,
}: {
  tag?: string | undefined;
  onChange: (tag: string | undefined) => void;
}): React.ReactNode {
  const [text, setText] = useState(tag);
  const apply = (): void => {
    if (text.trim() !== tag) onChange(text.trim() === "" ? undefined : text.trim());
  };
  return (
    <form
      className="tag-filter"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <TextField
        label="Tag"
        isLabelHidden
        placeholder="Any tag"
        maxLength={255}
        autoComplete="off"
        value={text}
        onChange={setText}
        onBlur={apply}
      />
    </form>
  );
}
