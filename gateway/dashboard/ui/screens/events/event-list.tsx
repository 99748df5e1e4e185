/** Events that were recorded, page by page. */
import { create } from "@bufbuild/protobuf";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { type Event, type EventPosition, EventPositionSchema, EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { eventColumns } from "../../components/events.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { LoadMore, Table } from "../../components/table.tsx";
import type { listRequest } from "./filter.ts";

const columns = { occurred: eventColumns("occurred"), received: eventColumns("received") } as const;

export function EventList({
  request,
  by,
  isFiltered,
  openId,
  onOpen,
}: {
  request: ReturnType<typeof listRequest>;
  by: keyof typeof columns;
  isFiltered: boolean;
  openId: string | undefined;
  onOpen: (event: Event) => void;
}): React.ReactNode {
  const list = useInfiniteQuery(
    EventService.method.listEvents,
    // The first page is behind nothing; the type of a page's place knows no such.
    { ...request, after: undefined as unknown as EventPosition },
    {
      pageParamKey: "after",
      getNextPageParam: ({ events, hasMore }) => {
        const last = events.at(-1);
        const time = by === "received" ? last?.receivedAt : last?.occurredAt;
        return hasMore && last && time ? create(EventPositionSchema, { time, eventId: last.id }) : undefined;
      },
    },
  );
  if (list.isError && !list.data) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  return (
    <>
      <Table
        label="Events"
        columns={columns[by]}
        rows={list.data?.pages.flatMap(({ events }) => events)}
        keyOf={({ id }) => id}
        openKey={openId}
        onOpen={onOpen}
        empty={<NoEvents isFiltered={isFiltered} />}
      />
      {list.isFetchNextPageError && <ErrorState error={list.error} onRetry={() => void list.fetchNextPage()} />}
      <LoadMore
        hasMore={list.hasNextPage}
        isLoading={list.isFetchingNextPage}
        onMore={() => void list.fetchNextPage()}
      />
    </>
  );
}

function NoEvents({ isFiltered }: { isFiltered: boolean }): React.ReactNode {
  if (isFiltered) {
    return (
      <EmptyState title="No event is like that">
        <p>Choose a longer range, or clear the filter.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No events yet">
      <p>
        Everything that customers do appears here: an order, a visit, a refund. The Overview has a first event to send.
      </p>
    </EmptyState>
  );
}
