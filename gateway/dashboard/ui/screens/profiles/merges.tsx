/** Which profiles were merged into this one, or this one into which: who did it, when, and what was moved. */
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { type Merge, type Profile, ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { Copy } from "../../components/copy.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { type Column, LoadMore, Table } from "../../components/table.tsx";
import { Time } from "../../components/values.tsx";
import { firstPage } from "../../data/pages.ts";
import { useProperty, useViewer } from "../../data/viewer.ts";
import { movedInWords } from "./moved.ts";
import { shortId } from "./person.tsx";

const pageSize = 100;

export function Merges({ of: profile }: { of: Profile }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const { member } = useViewer();
  const list = useInfiniteQuery(
    ProfileService.method.listMerges,
    { propertyId, profileId: profile.id, limit: pageSize, afterMergeId: firstPage },
    {
      pageParamKey: "afterMergeId",
      getNextPageParam: ({ merges, hasMore }) => (hasMore ? merges.at(-1)?.mergeId : undefined),
    },
  );
  const toProfile = (id: string): React.ReactNode =>
    id === profile.id ? (
      <span className="muted">this profile</span>
    ) : (
      <Link to="/$property/profiles/$profile" params={{ property: propertyId, profile: id }} title={id}>
        <code>{shortId(id)}</code>
      </Link>
    );
  const columns: Column<Merge>[] = [
    { id: "at", title: "When", cell: ({ mergedAt }) => <Time at={mergedAt} focusable /> },
    { id: "source", title: "Merged", cell: ({ sourceId }) => toProfile(sourceId) },
    { id: "survivor", title: "Into", cell: ({ survivorId }) => toProfile(survivorId) },
    {
      id: "by",
      title: "By",
      cell: ({ mergedBy }) => (mergedBy === member.id ? "You" : <Copy text={mergedBy} short />),
    },
    { id: "moved", title: "Moved", cell: ({ moved }) => movedInWords(moved) },
  ];
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  return (
    <>
      <Table
        label="Merges"
        columns={columns}
        rows={list.data?.pages.flatMap(({ merges }) => merges)}
        keyOf={({ mergeId }) => mergeId}
        empty={
          <EmptyState title="No merges" level={3}>
            <p>
              When another profile is merged into this one, it is listed here: who did it, when, and what was moved.
            </p>
          </EmptyState>
        }
      />
      <LoadMore
        hasMore={list.hasNextPage}
        isLoading={list.isFetchingNextPage}
        onMore={() => void list.fetchNextPage()}
      />
    </>
  );
}
