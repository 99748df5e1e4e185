/** All properties of the installation, for admins of all. */
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { IdentityService, type Property } from "#proto/daybook/identity/v1/identity_pb.ts";
import { Copy } from "../../components/copy.tsx";
import { Badge } from "../../components/page.tsx";
import { ErrorState } from "../../components/states.tsx";
import { type Column, LoadMore, Table } from "../../components/table.tsx";
import { Time } from "../../components/values.tsx";
import { firstPage } from "../../data/pages.ts";
import { useViewer } from "../../data/viewer.ts";
import { ModeBadge } from "./mode-badge.tsx";

const pageSize = 100;

export function Properties({ current }: { current: string }): React.ReactNode {
  const { properties: known } = useViewer();
  const list = useInfiniteQuery(
    IdentityService.method.listProperties,
    { limit: pageSize, afterPropertyId: firstPage },
    {
      pageParamKey: "afterPropertyId",
      getNextPageParam: ({ properties, hasMore }) => (hasMore ? properties.at(-1)?.id : undefined),
    },
  );
  const columns: readonly Column<Property>[] = [
    {
      id: "name",
      title: "Name",
      cell: ({ id, name }) => (
        <span>
          {known.some((property) => property.id === id) ? (
            <Link to="/$property/settings" params={{ property: id }}>
              {name}
            </Link>
          ) : (
            name
          )}{" "}
          {id === current && <Badge tone="accent">This one</Badge>}
        </span>
      ),
    },
    { id: "mode", title: "Mode", cell: ({ mode }) => <ModeBadge mode={mode} /> },
    { id: "currency", title: "Currency", cell: ({ defaultCurrency }) => defaultCurrency },
    { id: "zone", title: "Time zone", cell: ({ timezone }) => timezone, isMinor: true },
    { id: "created", title: "Created", cell: ({ createdAt }) => <Time at={createdAt} />, isMinor: true },
    { id: "id", title: "Id", cell: ({ id }) => <Copy text={id} short /> },
  ];
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  return (
    <>
      <Table
        label="All properties"
        columns={columns}
        rows={list.data?.pages.flatMap(({ properties }) => properties)}
        keyOf={({ id }) => id}
        empty={null}
      />
      <LoadMore
        hasMore={list.hasNextPage}
        isLoading={list.isFetchingNextPage}
        onMore={() => void list.fetchNextPage()}
      />
    </>
  );
}
