/** Keys: who may call the API for this property. */
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { getRouteApi } from "@tanstack/react-router";
import { IdentityService, type Key } from "#proto/daybook/identity/v1/identity_pb.ts";
import { EqualsApiCall } from "../../components/api-call.tsx";
import { SearchField, Segments } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { Badge, PageHeader, Toolbar } from "../../components/page.tsx";
import { WithPanel } from "../../components/side-panel.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { type Column, LoadMore, Table } from "../../components/table.tsx";
import { Time, useNow } from "../../components/values.tsx";
import { apiCalls } from "../../api-calls.ts";
import { firstPage } from "../../data/pages.ts";
import { useMay, useProperty } from "../../data/viewer.ts";
import { CreateKey } from "./create-key.tsx";
import { KeyPanel } from "./key-panel.tsx";
import { stateOf } from "./key-state.ts";

const route = getRouteApi("/$property/keys");
const pageSize = 100;

const columns: readonly Column<Key>[] = [
  { id: "name", title: "Name", cell: ({ name }) => name },
  { id: "prefix", title: "Begins with", cell: ({ displayPrefix }) => <code className="nowrap">{displayPrefix}…</code> },
  { id: "state", title: "State", cell: (key) => <State of={key} /> },
  { id: "scopes", title: "May", cell: ({ scopes }) => scopesInShort(scopes), isMinor: true },
  { id: "used", title: "Last used", cell: ({ lastUsedAt }) => <LastUsed at={lastUsedAt} /> },
  { id: "created", title: "Created", cell: ({ createdAt }) => <Time at={createdAt} />, isMinor: true },
];

export function KeysScreen(): React.ReactNode {
  const { id: propertyId } = useProperty();
  const mayManage = useMay("keys:manage");
  const { show = "active", find = "", key: openKey, create } = route.useSearch();
  const navigate = route.useNavigate();
  const now = useNow();
  const list = useInfiniteQuery(
    IdentityService.method.listKeys,
    { propertyId, limit: pageSize, afterKeyId: firstPage },
    {
      pageParamKey: "afterKeyId",
      getNextPageParam: ({ keys, hasMore }) => (hasMore ? keys.at(-1)?.id : undefined),
    },
  );
  const all = list.data?.pages.flatMap(({ keys }) => keys);
  const wanted = find.toLowerCase();
  const rows = all?.filter(
    (key) =>
      (show === "all" || stateOf(key, now).opens === (show === "active")) &&
      [key.name, key.displayPrefix, key.id].some((text) => text.toLowerCase().includes(wanted)),
  );
  const open = all?.find(({ id }) => id === openKey);
  const set = (next: {
    show?: typeof show;
    find?: string;
    key?: string | undefined;
    create?: "yes" | undefined;
  }): void => void navigate({ search: (before) => ({ ...before, ...next }), replace: "find" in next });

  return (
    <div className="screen">
      <PageHeader
        title="Keys"
        actions={
          <>
            <EqualsApiCall call={apiCalls.account()} />
            {mayManage && (
              <button type="button" className="button primary" onClick={() => set({ create: "yes" })}>
                <Icon name="plus" />
                Create a key
              </button>
            )}
          </>
        }
      >
        A key lets a program call the API for this property.
      </PageHeader>
      <Toolbar label="Filter">
        <SearchField
          label="Find keys"
          placeholder="Name, beginning or id"
          value={find}
          onChange={(value) => set({ find: value })}
        />
        <Segments
          label="State"
          value={show}
          options={[
            { value: "active", title: "Active" },
            { value: "ended", title: "Ended" },
            { value: "all", title: "All" },
          ]}
          onChange={(value) => set({ show: value })}
        />
      </Toolbar>
      <WithPanel panel={open && <KeyPanel keyOf={open} onClose={() => set({ key: undefined })} />}>
        {list.isError ? (
          <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        ) : (
          <Table
            label="Keys"
            columns={columns}
            rows={rows}
            keyOf={({ id }) => id}
            openKey={open?.id}
            onOpen={({ id }) => set({ key: id })}
            empty={<NoKeys isFiltered={(all?.length ?? 0) > 0} mayManage={mayManage} />}
          />
        )}
        <LoadMore
          hasMore={list.hasNextPage}
          isLoading={list.isFetchingNextPage}
          onMore={() => void list.fetchNextPage()}
        />
      </WithPanel>
      {create === "yes" && mayManage && <CreateKey onClose={() => set({ create: undefined })} />}
    </div>
  );
}

function State({ of }: { of: Key }): React.ReactNode {
  const { word, tone } = stateOf(of, useNow());
  return <Badge tone={tone}>{word}</Badge>;
}

function LastUsed({ at }: { at: Key["lastUsedAt"] }): React.ReactNode {
  return at ? <Time at={at} /> : <span className="muted">Never</span>;
}

function scopesInShort(scopes: readonly string[]): string {
  return scopes.length <= 2 ? scopes.join(", ") : `${scopes.slice(0, 2).join(", ")} and ${scopes.length - 2} more`;
}

function NoKeys({ isFiltered, mayManage }: { isFiltered: boolean; mayManage: boolean }): React.ReactNode {
  if (isFiltered) {
    return (
      <EmptyState title="No key is like that">
        <p>Clear the filter to see the others.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No keys yet">
      <p>
        {mayManage
          ? "Create a key, and give it to the program that sends events. Each program has its own."
          : "An admin or a developer of this property creates keys."}
      </p>
    </EmptyState>
  );
}
