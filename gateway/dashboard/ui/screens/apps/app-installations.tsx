/** Where an app is installed, and where it was. */
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import { Skeleton } from "../../components/skeleton.tsx";
import { ErrorState } from "../../components/states.tsx";
import { LoadMore } from "../../components/table.tsx";
import { firstPage } from "../../data/pages.ts";
import { placeOf } from "../../data/roles.ts";
import { useViewer } from "../../data/viewer.ts";
import { InstallationState } from "./states.tsx";

const pageSize = 100;

export function AppInstallations({ appId }: { appId: string }): React.ReactNode {
  const { properties } = useViewer();
  const list = useInfiniteQuery(
    AppService.method.listInstallations,
    { appId, limit: pageSize, afterInstallationId: firstPage },
    {
      pageParamKey: "afterInstallationId",
      getNextPageParam: ({ installations, hasMore }) => (hasMore ? installations.at(-1)?.id : undefined),
    },
  );
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  if (!list.data) return <Skeleton lines={2} />;
  const installations = list.data.pages.flatMap((page) => page.installations);
  if (installations.length === 0) {
    return <p className="muted">Nowhere yet. The partner begins: it sends people of a property here for consent.</p>;
  }
  return (
    <>
      <ul className="rows">
        {installations.map((installation) => (
          <li key={installation.id}>
            <Link
              to="/$property/apps"
              params={{ property: installation.propertyId }}
              search={{ show: "all", installation: installation.id }}
            >
              {placeOf(installation, properties)}
            </Link>
            <InstallationState of={installation} />
          </li>
        ))}
      </ul>
      <LoadMore
        hasMore={list.hasNextPage}
        isLoading={list.isFetchingNextPage}
        onMore={() => void list.fetchNextPage()}
      />
    </>
  );
}
