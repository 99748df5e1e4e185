/** The endpoints of the property. */
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { lazy, Suspense } from "react";
import { type Endpoint, WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { WithPanel } from "../../components/side-panel.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { type Column, LoadMore, Table } from "../../components/table.tsx";
import { Count, Time } from "../../components/values.tsx";
import { firstPage } from "../../data/pages.ts";
import { useProperty } from "../../data/viewer.ts";
import { SuccessRate, useHealth } from "./health.tsx";
import { EndpointState } from "./states.tsx";

const EndpointPanel = lazy(() => import("./endpoint-panel.tsx"));
const pageSize = 100;

/** All endpoints that the viewer may see: a property has a few. */
export function useEndpoints() {
  const { id: propertyId } = useProperty();
  return useInfiniteQuery(
    WebhookService.method.listEndpoints,
    { propertyId, limit: pageSize, afterEndpointId: firstPage },
    {
      pageParamKey: "afterEndpointId",
      getNextPageParam: ({ endpoints, hasMore }) => (hasMore ? endpoints.at(-1)?.id : undefined),
    },
  );
}

/** The description, or where it is. */
export const nameOf = ({ description, url }: Endpoint): string => (description === "" ? url : description);

export function Endpoints({
  openId,
  onOpen,
}: {
  openId: string | undefined;
  onOpen: (id: string | undefined) => void;
}): React.ReactNode {
  const list = useEndpoints();
  const health = useHealth();
  const columns: readonly Column<Endpoint>[] = [
    { id: "name", title: "Webhook", cell: (endpoint) => <Name of={endpoint} /> },
    {
      id: "state",
      title: "State",
      cell: (endpoint) => <EndpointState of={endpoint} health={health?.get(endpoint.id)} />,
    },
    { id: "rate", title: "Last 24 hours", cell: ({ id }) => <SuccessRate of={health?.get(id)} /> },
    {
      id: "waiting",
      title: "Waiting",
      align: "end",
      isMinor: true,
      cell: ({ id }) => <Count value={health?.get(id)?.pending ?? 0n} />,
    },
    { id: "types", title: "Told when", isMinor: true, cell: ({ types }) => <TypesInShort types={types} /> },
    {
      id: "success",
      title: "Last success",
      cell: ({ lastSuccessAt }) => (lastSuccessAt ? <Time at={lastSuccessAt} /> : <span className="muted">Never</span>),
    },
  ];
  return (
    <WithPanel
      panel={
        openId !== undefined && (
          <Suspense>
            <EndpointPanel
              key={openId}
              endpointId={openId}
              health={health?.get(openId)}
              onClose={() => onOpen(undefined)}
            />
          </Suspense>
        )
      }
    >
      {list.isError ? (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Table
          label="Webhooks"
          columns={columns}
          rows={list.data?.pages.flatMap(({ endpoints }) => endpoints)}
          keyOf={({ id }) => id}
          openKey={openId}
          onOpen={({ id }) => onOpen(id)}
          empty={
            <EmptyState title="No webhooks yet">
              <p>
                A webhook is told of what happens here as it happens: each message is a signed POST to a URL of yours.
                Create one, then replay the past to it if you like.
              </p>
            </EmptyState>
          }
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

function Name({ of: { description, url } }: { of: Endpoint }): React.ReactNode {
  const address = url.replace(/^https:\/\//, "");
  if (description === "") return <span className="endpoint-url">{address}</span>;
  return (
    <>
      {description}
      <span className="endpoint-url help">{address}</span>
    </>
  );
}

function TypesInShort({ types }: { types: readonly string[] }): React.ReactNode {
  const [first = "", ...others] = types;
  if (first === "*") return "Everything";
  return (
    <>
      <code>{first}</code>
      {others.length > 0 && <span className="muted"> and {others.length} more</span>}
    </>
  );
}
