/** The apps that are installed in the property, and those that were. */
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { AppService, type Installation } from "#proto/daybook/identity/v1/apps_pb.ts";
import { ErrorState, EmptyState } from "../../components/states.tsx";
import { WithPanel } from "../../components/side-panel.tsx";
import { type Column, LoadMore, Table } from "../../components/table.tsx";
import { Time } from "../../components/values.tsx";
import { firstPage } from "../../data/pages.ts";
import { useMayEverywhere, useProperty } from "../../data/viewer.ts";
import { InstallationPanel } from "./installation-panel.tsx";
import { useAppNames, useMemberNames } from "./names.ts";
import { ScopesInShort } from "./scope-list.tsx";
import { InstallationState, isActive } from "./states.tsx";

const pageSize = 100;

export type Show = "active" | "ended" | "all";

export function Installed({
  show,
  find,
  openId,
  onOpen,
}: {
  show: Show;
  find: string;
  openId: string | undefined;
  onOpen: (id: string | undefined) => void;
}): React.ReactNode {
  const { id: propertyId } = useProperty();
  const nameOfMember = useMemberNames();
  const list = useInfiniteQuery(
    AppService.method.listInstallations,
    { propertyId, limit: pageSize, afterInstallationId: firstPage },
    {
      pageParamKey: "afterInstallationId",
      getNextPageParam: ({ installations, hasMore }) => (hasMore ? installations.at(-1)?.id : undefined),
    },
  );
  const all = list.data?.pages.flatMap(({ installations }) => installations);
  const shown = all?.filter((installation) => show === "all" || isActive(installation) === (show === "active"));
  const names = useAppNames(shown);
  const nameOf = ({ appId }: Installation): string => names?.get(appId) ?? appId;
  const wanted = find.toLowerCase();
  const rows = shown?.filter((installation) =>
    [nameOf(installation), installation.id, installation.appId].some((text) => text.toLowerCase().includes(wanted)),
  );
  const columns: readonly Column<Installation>[] = [
    { id: "name", title: "App", cell: nameOf },
    { id: "state", title: "State", cell: (installation) => <InstallationState of={installation} /> },
    { id: "scopes", title: "It may", cell: ({ scopes }) => <ScopesInShort scopes={scopes} />, isMinor: true },
    { id: "by", title: "Installed by", cell: ({ installedBy }) => nameOfMember(installedBy), isMinor: true },
    {
      id: "used",
      title: "Last used",
      cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : <span className="muted">Never</span>),
    },
  ];
  return (
    <WithPanel
      panel={
        openId !== undefined && (
          <InstallationPanel key={openId} installationId={openId} onClose={() => onOpen(undefined)} />
        )
      }
    >
      {list.isError ? (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Table
          label="Installed apps"
          columns={columns}
          rows={names && rows}
          keyOf={({ id }) => id}
          openKey={openId}
          onOpen={({ id }) => onOpen(id)}
          empty={<Nothing hasSome={Boolean(all?.length)} show={show} isSearch={find !== ""} />}
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

function Nothing({ hasSome, show, isSearch }: { hasSome: boolean; show: Show; isSearch: boolean }): React.ReactNode {
  const mayManageAll = useMayEverywhere("apps:manage");
  if (isSearch) {
    return (
      <EmptyState title="No app is like that">
        <p>Clear the search to see the others.</p>
      </EmptyState>
    );
  }
  if (hasSome) {
    return (
      <EmptyState title={show === "ended" ? "No app was uninstalled" : "No app has access now"}>
        <p>Choose All to see the others.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No apps yet">
      <p>
        A partner sends you from its own site to Daybook. There you see what its app wants to do, choose this property,
        and allow it or not. What you allow stands here, and you end it here.
      </p>
      {mayManageAll && <p>Only an app of this Daybook can ask. Create the partner's app in All apps.</p>}
    </EmptyState>
  );
}
