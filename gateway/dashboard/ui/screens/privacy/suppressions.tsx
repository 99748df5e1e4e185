/** Identifiers that are kept out since an erasure. Nobody can read them: only digests are stored. */
import { useInfiniteQuery, useMutation } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { PrivacyService, type Suppression } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { Copy } from "../../components/copy.tsx";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { type Column, LoadMore, Table } from "../../components/table.tsx";
import { toast } from "../../components/toasts.tsx";
import { Time } from "../../components/values.tsx";
import { firstPage } from "../../data/pages.ts";
import { useMay, useProperty } from "../../data/viewer.ts";
import { useRereadPrivacy } from "./reread.ts";

const pageSize = 100;

export function Suppressions(): React.ReactNode {
  const { id: propertyId } = useProperty();
  const mayDelete = useMay("privacy:delete");
  const [asked, setAsked] = useState<Suppression>();
  const list = useInfiniteQuery(
    PrivacyService.method.listSuppressions,
    { propertyId, limit: pageSize, afterSuppressionId: firstPage },
    {
      pageParamKey: "afterSuppressionId",
      getNextPageParam: ({ suppressions, hasMore }) => (hasMore ? suppressions.at(-1)?.id : undefined),
    },
  );
  const columns: readonly Column<Suppression>[] = [
    { id: "type", title: "Type", cell: ({ type }) => <code>{type}</code> },
    {
      id: "request",
      title: "Since the erasure",
      cell: ({ privacyRequestId }) => (
        <Link to="/$property/privacy" params={{ property: propertyId }} search={{ request: privacyRequestId }}>
          <code>{`priv_…${privacyRequestId.slice(-6)}`}</code>
        </Link>
      ),
    },
    { id: "created", title: "Made", cell: ({ createdAt }) => <Time at={createdAt} /> },
    { id: "id", title: "Id", isMinor: true, cell: ({ id }) => <Copy text={id} short /> },
    ...(mayDelete
      ? [
          {
            id: "delete",
            title: "Change",
            cell: (suppression: Suppression) => (
              <button
                type="button"
                className="button small"
                aria-label={`Let in again: ${suppression.type} ${suppression.id}`}
                onClick={() => setAsked(suppression)}
              >
                Let in again …
              </button>
            ),
          },
        ]
      : []),
  ];
  return (
    <>
      {list.isError ? (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Table
          label="Suppressions"
          columns={columns}
          rows={list.data?.pages.flatMap(({ suppressions }) => suppressions)}
          keyOf={({ id }) => id}
          empty={
            <EmptyState title="Nobody is kept out">
              <p>
                An erasure can keep the person's identifiers out: writes with one of them are refused with{" "}
                <code>identifier_suppressed</code>. Daybook keeps a digest of each, from which nothing can be read.
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
      {asked && <LetIn suppression={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

function LetIn({ suppression, onClose }: { suppression: Suppression; onClose: () => void }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const reread = useRereadPrivacy();
  const remove = useMutation(PrivacyService.method.deleteSuppression, {
    onSuccess: () => {
      reread();
      toast("The identifier may be written again.");
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`Let this ${suppression.type} in again?`}
      action="Let it in again"
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ propertyId, suppressionId: suppression.id })}
      onClose={onClose}
    >
      <p>
        The next write with it makes a new profile. What was erased does not come back. Do this only if the person wants
        to be known again.
      </p>
    </ConfirmDialog>
  );
}
