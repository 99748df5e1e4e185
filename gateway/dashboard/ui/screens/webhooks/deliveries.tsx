/** Messages on their way to endpoints, newest first. */
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { type Delivery, DeliveryStatus, WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { DateRange } from "../../components/date-range.tsx";
import { Select } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { Toolbar } from "../../components/page.tsx";
import { WithPanel } from "../../components/side-panel.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { type Column, LoadMore, Table } from "../../components/table.tsx";
import { Count, Time } from "../../components/values.tsx";
import { firstPage } from "../../data/pages.ts";
import { useProperty } from "../../data/viewer.ts";
import { type DeliveryFilter, pageSize, statuses, toRange } from "./delivery-filter.ts";
import { DeliveryPanel } from "./delivery-panel.tsx";
import { nameOf, useEndpoints } from "./endpoints.tsx";
import { DeliveryState, outcomeOf } from "./states.tsx";
import { messageTypes, otherTypes } from "./types.ts";

const rereadMs = 5_000;

export default function Deliveries({
  filter,
  openId,
  onFilter,
  onOpen,
}: {
  filter: DeliveryFilter;
  openId: string | undefined;
  onFilter: (change: DeliveryFilter) => void;
  onOpen: (id: string | undefined) => void;
}): React.ReactNode {
  const { id: propertyId } = useProperty();
  // From here presets count, so that a list does not move under its reader.
  const [openedAt] = useState(() => new Date());
  const endpoints = useEndpoints().data?.pages.flatMap((page) => page.endpoints) ?? [];
  const { endpoint, status, type, range } = filter;
  const list = useInfiniteQuery(
    WebhookService.method.listDeliveries,
    {
      propertyId,
      ...(endpoint !== undefined && { endpointId: endpoint }),
      ...(status !== undefined && { status: statuses[status] }),
      ...(type !== undefined && { type }),
      ...(range !== undefined && { createdAt: toRange(range, openedAt) }),
      limit: pageSize,
      afterDeliveryId: firstPage,
    },
    {
      pageParamKey: "afterDeliveryId",
      getNextPageParam: ({ deliveries, hasMore }) => (hasMore ? deliveries.at(-1)?.id : undefined),
      // Only while somebody waits for one.
      refetchInterval: ({ state }) =>
        state.data?.pages[0]?.deliveries.some((each) => each.status === DeliveryStatus.PENDING) ? rereadMs : false,
    },
  );
  const columns: readonly Column<Delivery>[] = [
    { id: "type", title: "Type", cell: (delivery) => <code className="clamp">{delivery.type}</code> },
    { id: "state", title: "State", cell: (delivery) => <DeliveryState of={delivery} /> },
    {
      id: "answer",
      title: "Last answer",
      cell: ({ lastResponseStatus, lastError }) => outcomeOf(lastResponseStatus, lastError),
    },
    { id: "attempts", title: "Attempts", align: "end", cell: ({ attempts }) => <Count value={attempts} /> },
    {
      id: "endpoint",
      title: "Webhook",
      isMinor: true,
      cell: ({ endpointId }) => {
        const found = endpoints.find(({ id }) => id === endpointId);
        return <span className="endpoint-url">{found ? nameOf(found) : endpointId}</span>;
      },
    },
    { id: "next", title: "Sent again", isMinor: true, cell: ({ nextAttemptAt }) => <Time at={nextAttemptAt} /> },
    { id: "created", title: "Created", cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
  const isFiltered = [endpoint, status, type, range].some((value) => value !== undefined);
  return (
    <>
      <Toolbar label="Filter">
        <Select
          label="Webhook"
          isLabelHidden
          value={endpoint ?? ""}
          options={[
            { value: "", title: "Any webhook" },
            ...endpoints.map((each) => ({ value: each.id, title: nameOf(each) })),
            ...(endpoint !== undefined && !endpoints.some(({ id }) => id === endpoint)
              ? [{ value: endpoint, title: endpoint }]
              : []),
          ]}
          onChange={(value) => onFilter({ endpoint: value === "" ? undefined : value })}
        />
        <Select
          label="State"
          isLabelHidden
          value={status ?? ""}
          options={stateOptions}
          onChange={(value) => onFilter({ status: value === "" ? undefined : value })}
        />
        <Select
          label="Type"
          isLabelHidden
          value={type ?? ""}
          options={[
            { value: "", title: "Any type" },
            ...[...messageTypes, ...otherTypes].map((each) => ({ value: each.type, title: each.type })),
            ...(type !== undefined && ![...messageTypes, ...otherTypes].some((each) => each.type === type)
              ? [{ value: type, title: type }]
              : []),
          ]}
          onChange={(value) => onFilter({ type: value === "" ? undefined : value })}
        />
        <DateRange
          value={range ?? ""}
          allowsAny
          only={["1h", "24h", "7d", "30d"]}
          onChange={(value) => onFilter({ range: value === "" ? undefined : value })}
        />
        {isFiltered && (
          <button
            type="button"
            className="button quiet"
            onClick={() => onFilter({ endpoint: undefined, status: undefined, type: undefined, range: undefined })}
          >
            <Icon name="close" />
            Clear
          </button>
        )}
      </Toolbar>
      <WithPanel
        panel={
          openId !== undefined && (
            <DeliveryPanel
              key={openId}
              deliveryId={openId}
              endpoint={(id) => endpoints.find((each) => each.id === id)}
              onClose={() => onOpen(undefined)}
            />
          )
        }
      >
        {list.isError ? (
          <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        ) : (
          <Table
            label="Deliveries"
            columns={columns}
            rows={list.data?.pages.flatMap(({ deliveries }) => deliveries)}
            keyOf={({ id }) => id}
            openKey={openId}
            onOpen={({ id }) => onOpen(id)}
            empty={<NoDeliveries isFiltered={isFiltered} />}
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

const stateOptions = [
  { value: "", title: "Any state" },
  { value: "pending", title: "Pending" },
  { value: "delivered", title: "Delivered" },
  { value: "failed", title: "Failed" },
  { value: "cancelled", title: "Cancelled" },
] as const;

function NoDeliveries({ isFiltered }: { isFiltered: boolean }): React.ReactNode {
  return isFiltered ? (
    <EmptyState title="No delivery is like that">
      <p>Clear the filter to see the others. Deliveries are kept for 30 days.</p>
    </EmptyState>
  ) : (
    <EmptyState title="No deliveries in the last 30 days">
      <p>Each message to a webhook appears here, with what its server answered.</p>
    </EmptyState>
  );
}
