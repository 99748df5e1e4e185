/** Audit: who did what in the dashboard. */
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { getRouteApi } from "@tanstack/react-router";
import { type AuditEntry, MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { PageHeader } from "../../components/page.tsx";
import { WithPanel } from "../../components/side-panel.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { type Column, LoadMore, Table } from "../../components/table.tsx";
import { Time } from "../../components/values.tsx";
import { firstPage } from "../../data/pages.ts";
import { placeOf } from "../../data/roles.ts";
import { useMayEverywhere, useProperty, useViewer } from "../../data/viewer.ts";
import "../../styles/team.css";
import { actionInWords } from "./actions.ts";
import { EntryPanel, Outcome, who } from "./entry-panel.tsx";
import { type Filter, Filters } from "./filters.tsx";
import { Targets } from "./targets.tsx";

const route = getRouteApi("/$property/audit");
const pageSize = 100;

export function AuditScreen(): React.ReactNode {
  const { id: here } = useProperty();
  const { properties } = useViewer();
  const maySeeAll = useMayEverywhere("audit:read");
  const { entry: openId, ...given } = route.useSearch();
  const navigate = route.useNavigate();
  const { in: where, ...rest } = given;
  const isAll = where === "all" && maySeeAll;
  const filter: Filter = isAll ? { ...rest, in: "all" } : rest;
  const list = useInfiniteQuery(
    MemberService.method.listAudit,
    {
      limit: pageSize,
      ...(!isAll && { propertyId: here }),
      ...(filter.member !== undefined && { memberId: filter.member }),
      ...(filter.action !== undefined && { action: filter.action }),
      afterEntryId: firstPage,
    },
    {
      pageParamKey: "afterEntryId",
      getNextPageParam: ({ entries, hasMore }) => (hasMore ? entries.at(-1)?.id : undefined),
    },
  );
  const rows = list.data?.pages.flatMap(({ entries }) => entries);
  const open = rows?.find(({ id }) => id === openId);
  const columns: readonly Column<AuditEntry>[] = [
    { id: "action", title: "Action", cell: ({ action }) => <span title={action}>{actionInWords(action)}</span> },
    { id: "who", title: "Who", cell: who },
    { id: "targets", title: "To", cell: (entry) => entry.targetIds.length > 0 && <Targets entry={entry} /> },
    ...(isAll
      ? [
          {
            id: "property",
            title: "Property",
            cell: ({ propertyId }: AuditEntry) => propertyId !== undefined && placeOf({ propertyId }, properties),
            isMinor: true,
          },
        ]
      : []),
    { id: "outcome", title: "Outcome", cell: (entry) => <Outcome entry={entry} /> },
    { id: "from", title: "From", cell: ({ address }) => address !== "" && <code>{address}</code>, isMinor: true },
    { id: "at", title: "When", cell: ({ at }) => <Time at={at} /> },
  ];
  return (
    <div className="screen">
      <PageHeader
        title="Audit"
        actions={
          <button type="button" className="button" disabled={list.isFetching} onClick={() => void list.refetch()}>
            Read anew
          </button>
        }
      >
        Who did what, newest first. On the command line: <code>daybook members audit</code>
      </PageHeader>
      <Filters filter={filter} onChange={(next) => void navigate({ search: next })} />
      <WithPanel
        panel={open && <EntryPanel key={open.id} entry={open} onClose={() => void navigate({ search: filter })} />}
      >
        {list.isError ? (
          <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        ) : (
          <Table
            label="Audit"
            columns={columns}
            rows={rows}
            keyOf={({ id }) => id}
            openKey={open?.id}
            onOpen={({ id }) => void navigate({ search: { ...filter, entry: id } })}
            empty={<Nothing isFiltered={filter.member !== undefined || filter.action !== undefined} isAll={isAll} />}
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

function Nothing({ isFiltered, isAll }: { isFiltered: boolean; isAll: boolean }): React.ReactNode {
  if (isFiltered) {
    return (
      <EmptyState title="Nothing of the kind was done">
        <p>Choose another person or action, or look at everything.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title={isAll ? "Nothing was done yet" : "Nothing was done in this property yet"}>
      <p>
        What somebody makes, changes, reveals or removes in the dashboard stands here, also when it was refused or
        failed. Reading leaves no entry, and neither do programs with keys.
      </p>
    </EmptyState>
  );
}
