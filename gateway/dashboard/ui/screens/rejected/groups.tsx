/** Rejected writes by what was wrong, counted exactly. */
import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { RejectedWriteService, type RejectedWriteGroup } from "#proto/daybook/event/v1/rejected_pb.ts";
import { WithPanel } from "../../components/side-panel.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { type Column, LoadMore, Table } from "../../components/table.tsx";
import { Count, Time } from "../../components/values.tsx";
import { useProperty } from "../../data/viewer.ts";
import { Caller } from "./caller.tsx";
import { type Filter, keyOfGroup, toFilter } from "./filter.ts";
import { GroupPanel } from "./group-panel.tsx";
import { Severity } from "./states.tsx";

const pageSize = 50;
const groupsMax = 500;

const columns: readonly Column<RejectedWriteGroup>[] = [
  {
    id: "fault",
    title: "What was wrong",
    cell: ({ code, param }) => (
      <>
        <code>{code}</code>
        {param !== undefined && (
          <>
            {" at "}
            <code>{param}</code>
          </>
        )}
      </>
    ),
  },
  { id: "severity", title: "How bad", cell: ({ severity }) => <Severity of={severity} /> },
  { id: "count", title: "Times", align: "end", cell: ({ count }) => <Count value={count} /> },
  {
    id: "operation",
    title: "Operation",
    isMinor: true,
    cell: ({ operation }) => <code className="clamp">{operation}</code>,
  },
  {
    id: "type",
    title: "Event type",
    isMinor: true,
    cell: ({ eventType }) => eventType !== undefined && <code className="clamp">{eventType}</code>,
  },
  { id: "key", title: "Key", isMinor: true, cell: ({ keyId, keyName }) => <Caller id={keyId} name={keyName} /> },
  { id: "last", title: "Last", cell: ({ lastAt }) => <Time at={lastAt} /> },
];

export function Groups({
  filter,
  now,
  openKey,
  onOpen,
}: {
  filter: Filter;
  /** From here presets count. */
  now: Date;
  openKey: string | undefined;
  onOpen: (key: string | undefined) => void;
}): React.ReactNode {
  const { id: propertyId } = useProperty();
  const [limit, setLimit] = useState(pageSize);
  const { request: _request, reference: _reference, ...ofGroups } = filter;
  const { data, error, isError, isFetching, refetch } = useQuery(
    RejectedWriteService.method.summarizeRejectedWrites,
    { propertyId, filter: toFilter(ofGroups, now), limit },
    { placeholderData: (before) => before },
  );
  const open = data?.groups.find((group) => keyOfGroup(group) === openKey);
  if (isError && !data) return <ErrorState error={error} onRetry={() => void refetch()} />;
  return (
    <WithPanel panel={open && <GroupPanel key={openKey} group={open} onClose={() => onOpen(undefined)} />}>
      {data && data.groups.length > 0 && (
        <p className="muted total">
          <Count value={data.count} /> {data.count === 1n ? "write was" : "writes were"} refused. Counts are exact, also
          of those that are not kept one by one.
        </p>
      )}
      <Table
        label="Groups of rejected writes"
        columns={columns}
        rows={data?.groups}
        keyOf={keyOfGroup}
        openKey={openKey}
        onOpen={(group) => onOpen(keyOfGroup(group))}
        empty={<NoGroups isFiltered={Object.values(ofGroups).some((value) => value !== undefined)} />}
      />
      <LoadMore
        hasMore={data?.hasMore === true && limit < groupsMax}
        isLoading={isFetching}
        onMore={() => setLimit(Math.min(limit * 4, groupsMax))}
      />
      {data?.hasMore === true && limit >= groupsMax && (
        <p className="muted">Only the {groupsMax} groups with the most are shown. Narrow the filter to see others.</p>
      )}
    </WithPanel>
  );
}

export function NoGroups({ isFiltered }: { isFiltered: boolean }): React.ReactNode {
  return isFiltered ? (
    <EmptyState title="No refused write is like that">
      <p>Clear the filter, or choose a longer range.</p>
    </EmptyState>
  ) : (
    <EmptyState title="Nothing was refused in the last 7 days">
      <p>
        When a program sends something that cannot be recorded, it appears here with the field at fault: whole requests,
        items of batches, and items of jobs.
      </p>
    </EmptyState>
  );
}
