/** All apps of this Daybook, for who manages them. */
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { type App, AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import { Copy } from "../../components/copy.tsx";
import { WithPanel } from "../../components/side-panel.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { type Column, LoadMore, Table } from "../../components/table.tsx";
import { Time } from "../../components/values.tsx";
import { firstPage } from "../../data/pages.ts";
import { AppPanel } from "./app-panel.tsx";
import { ScopesInShort } from "./scope-list.tsx";
import { AppState } from "./states.tsx";

const pageSize = 100;

const columns: readonly Column<App>[] = [
  { id: "name", title: "App", cell: ({ name }) => name },
  { id: "state", title: "State", cell: (app) => <AppState of={app} /> },
  { id: "scopes", title: "It may ask to", cell: ({ scopes }) => <ScopesInShort scopes={scopes} />, isMinor: true },
  { id: "created", title: "Created", cell: ({ createdAt }) => <Time at={createdAt} />, isMinor: true },
  { id: "id", title: "Client id", cell: ({ id }) => <Copy text={id} short /> },
];

export default function Catalogue({
  find,
  openId,
  onOpen,
}: {
  find: string;
  openId: string | undefined;
  onOpen: (id: string | undefined) => void;
}): React.ReactNode {
  const list = useInfiniteQuery(
    AppService.method.listApps,
    { limit: pageSize, afterAppId: firstPage },
    {
      pageParamKey: "afterAppId",
      getNextPageParam: ({ apps, hasMore }) => (hasMore ? apps.at(-1)?.id : undefined),
    },
  );
  const wanted = find.toLowerCase();
  const rows = list.data?.pages
    .flatMap(({ apps }) => apps)
    .filter(({ id, name }) => [name, id].some((text) => text.toLowerCase().includes(wanted)));
  return (
    <WithPanel
      panel={openId !== undefined && <AppPanel key={openId} appId={openId} onClose={() => onOpen(undefined)} />}
    >
      {list.isError ? (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Table
          label="All apps"
          columns={columns}
          rows={rows}
          keyOf={({ id }) => id}
          openKey={openId}
          onOpen={({ id }) => onOpen(id)}
          empty={<NoApps isSearch={find !== ""} />}
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

function NoApps({ isSearch }: { isSearch: boolean }): React.ReactNode {
  if (isSearch) {
    return (
      <EmptyState title="No app is like that">
        <p>Clear the search to see the others.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No apps yet">
      <p>
        An app is a program of a partner that is to work with properties of others: it asks each of them for access by
        OAuth 2.1. For a program of your own create a key instead.
      </p>
      <p>
        Create one, and give the partner its client id and secret. On the command line: <code>daybook apps create</code>
      </p>
    </EmptyState>
  );
}
