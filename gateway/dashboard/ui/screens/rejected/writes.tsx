/** Rejected writes one by one, newest first. */
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { lazy, Suspense } from "react";
import { type RejectedWrite, RejectedWriteService } from "#proto/daybook/event/v1/rejected_pb.ts";
import { WithPanel } from "../../components/side-panel.tsx";
import { ErrorState } from "../../components/states.tsx";
import { type Column, LoadMore, Table } from "../../components/table.tsx";
import { Time } from "../../components/values.tsx";
import { firstPage } from "../../data/pages.ts";
import { useProperty } from "../../data/viewer.ts";
import { Caller } from "./caller.tsx";
import { type Filter, toFilter } from "./filter.ts";
import { NoGroups } from "./groups.tsx";
import { Severity } from "./states.tsx";

const WritePanel = lazy(() => import("./write-panel.tsx"));
const pageSize = 50;

const columns: readonly Column<RejectedWrite>[] = [
  { id: "fault", title: "What was wrong", cell: ({ error }) => <Fault message={error?.message} code={error?.code} /> },
  { id: "severity", title: "How bad", cell: ({ severity }) => <Severity of={severity} /> },
  { id: "status", title: "Status", isMinor: true, cell: ({ status }) => <span className="number">{status}</span> },
  { id: "operation", title: "Operation", cell: ({ operation }) => <code>{operation}</code> },
  {
    id: "type",
    title: "Event type",
    isMinor: true,
    cell: ({ eventType }) => eventType !== undefined && <code>{eventType}</code>,
  },
  {
    id: "key",
    title: "Key",
    isMinor: true,
    cell: ({ keyId, keyName, installationId }) => <Caller id={installationId ?? keyId} name={keyName} />,
  },
  { id: "time", title: "Refused", cell: ({ rejectedAt }) => <Time at={rejectedAt} /> },
];

export function Writes({
  filter,
  now,
  openId,
  onOpen,
}: {
  filter: Filter;
  now: Date;
  openId: string | undefined;
  onOpen: (id: string | undefined) => void;
}): React.ReactNode {
  const { id: propertyId } = useProperty();
  const list = useInfiniteQuery(
    RejectedWriteService.method.listRejectedWrites,
    { propertyId, filter: toFilter(filter, now), limit: pageSize, afterRejectedWriteId: firstPage },
    {
      pageParamKey: "afterRejectedWriteId",
      getNextPageParam: ({ writes, hasMore }) => (hasMore ? writes.at(-1)?.id : undefined),
    },
  );
  return (
    <WithPanel
      panel={
        openId !== undefined && (
          <Suspense>
            <WritePanel key={openId} writeId={openId} onClose={() => onOpen(undefined)} />
          </Suspense>
        )
      }
    >
      {list.isError ? (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Table
          label="Rejected writes"
          columns={columns}
          rows={list.data?.pages.flatMap(({ writes }) => writes)}
          keyOf={({ id }) => id}
          openKey={openId}
          onOpen={({ id }) => onOpen(id)}
          empty={<NoGroups isFiltered={Object.values(filter).some((value) => value !== undefined)} />}
        />
      )}
      <LoadMore
        hasMore={list.hasNextPage}
        isLoading={list.isFetchingNextPage}
        onMore={() => void list.fetchNextPage()}
      />
    </WithPanel>
  );
}

function Fault({ message = "", code }: { message: string | undefined; code: string | undefined }): React.ReactNode {
  return (
    <>
      <span className="fault">{message}</span>
      <code className="help">{code}</code>
    </>
  );
}
