/** The items of a job that were refused: which, why, and where in the item. */
import { useInfiniteQuery } from "@connectrpc/connect-query";
import type { Error as ErrorMessage } from "#proto/daybook/common/v1/error_pb.ts";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { JsonView } from "../../components/json-view.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { ErrorState } from "../../components/states.tsx";
import { LoadMore } from "../../components/table.tsx";
import { formatCount } from "../../data/numbers.ts";
import { firstPage } from "../../data/pages.ts";
import { useProperty } from "../../data/viewer.ts";

const pageSize = 20;
const rereadMs = 5000;

interface Failure {
  id: string;
  item: number;
  error?: ErrorMessage | undefined;
}

interface PageOfFailures {
  errors: readonly Failure[];
  hasMore: boolean;
}

const paging = {
  pageParamKey: "afterItem",
  staleTime: 0,
  getNextPageParam: ({ errors, hasMore }: PageOfFailures) => (hasMore ? errors.at(-1)?.item : undefined),
} as const;

export function ImportFailures({ jobId, isRunning }: { jobId: string; isRunning: boolean }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const { data, ...list } = useInfiniteQuery(
    ProfileService.method.listImportErrors,
    { propertyId, jobId, limit: pageSize, afterItem: firstPage },
    { ...paging, refetchInterval: isRunning ? rereadMs : false },
  );
  const failures = data?.pages.flatMap(({ errors }) => errors);
  return (
    <Failures
      list={list}
      items={failures?.map((failure) => (
        <Failed key={failure.id} failure={failure}>
          <details>
            <summary>The item as it was sent</summary>
            <JsonView text={failure.originalJson} label={`Item ${failure.item}`} />
          </details>
        </Failed>
      ))}
    />
  );
}

export function EventFailures({ jobId, isRunning }: { jobId: string; isRunning: boolean }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const { data, ...list } = useInfiniteQuery(
    EventService.method.listEventJobErrors,
    { propertyId, jobId, limit: pageSize, afterItem: firstPage },
    { ...paging, refetchInterval: isRunning ? rereadMs : false },
  );
  const failures = data?.pages.flatMap(({ errors }) => errors);
  return (
    <Failures
      list={list}
      items={failures?.map((failure) => (
        <Failed key={failure.id} failure={failure}>
          {failure.type !== "" && (
            <p className="muted">
              Type <code>{failure.type}</code>
            </p>
          )}
        </Failed>
      ))}
    />
  );
}

function Failures({
  list,
  items,
}: {
  list: {
    error: unknown;
    isError: boolean;
    isFetching: boolean;
    hasNextPage: boolean;
    refetch: () => unknown;
    fetchNextPage: () => unknown;
  };
  items: React.ReactNode[] | undefined;
}): React.ReactNode {
  return (
    <>
      <h3>Failed items</h3>
      {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {!list.isError && !items && <Skeleton lines={3} />}
      {items && <ol className="failures">{items}</ol>}
      <LoadMore hasMore={list.hasNextPage} isLoading={list.isFetching} onMore={() => void list.fetchNextPage()} />
    </>
  );
}

function Failed({ failure, children }: { failure: Failure; children: React.ReactNode }): React.ReactNode {
  const { item, error } = failure;
  const faults = error === undefined ? [] : error.errors.length > 0 ? error.errors : [error];
  return (
    <li>
      <p>
        <strong>Item {formatCount(item)}</strong> <span className="muted">counted from 0</span>
      </p>
      {faults.map(({ code, message, param }) => (
        <p key={`${code} ${param}`}>
          {param !== undefined && (
            <>
              <code>{param}</code>:{" "}
            </>
          )}
          {message} <code className="muted">{code}</code>
        </p>
      ))}
      {children}
    </li>
  );
}
