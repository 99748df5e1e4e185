/** Metrics: one for each type of event, with how many there were lately. */
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { type Metric, MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { apiCalls } from "../../api-calls.ts";
import { Curl, EqualsApiCall } from "../../components/api-call.tsx";
import { Sparkline } from "../../components/chart.tsx";
import { SearchField, Segments } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { Badge, PageHeader, Toolbar } from "../../components/page.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { type Column, LoadMore, Table } from "../../components/table.tsx";
import { Count, Time } from "../../components/values.tsx";
import { formatCount } from "../../data/numbers.ts";
import { firstPage } from "../../data/pages.ts";
import { useMay, useProperty } from "../../data/viewer.ts";
import { CreateMetric } from "./create-metric.tsx";
import { sparklineDays, useSparklines } from "./sparklines.ts";
import "../../styles/metrics.css";

const route = getRouteApi("/$property/metrics");
// As many as one call for lines takes.
const pageSize = 100;
// A search looks through so many pages by itself.
const searchedPagesMax = 25;

export function MetricsScreen(): React.ReactNode {
  const { id: propertyId, timezone } = useProperty();
  const mayWrite = useMay("metrics:write");
  const { find = "", source, owner, create } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(
    MetricService.method.listMetrics,
    {
      propertyId,
      limit: pageSize,
      afterMetricId: firstPage,
      ...(source !== undefined && { source }),
      ...(owner !== undefined && { system: owner === "platform" }),
    },
    {
      pageParamKey: "afterMetricId",
      getNextPageParam: ({ metrics, hasMore }) => (hasMore ? metrics.at(-1)?.id : undefined),
    },
  );
  const pages = list.data?.pages ?? [];
  const isWanted = matcher(find);
  const rows = list.data && pages.flatMap(({ metrics }) => metrics.filter(isWanted));
  const { hasNextPage, isFetching, isError, fetchNextPage } = list;
  const searchesOn = find !== "" && hasNextPage && pages.length < searchedPagesMax;
  useEffect(() => {
    if (searchesOn && !isFetching && !isError) void fetchNextPage();
  }, [searchesOn, isFetching, isError, fetchNextPage]);

  const lines = useSparklines(
    propertyId,
    timezone || "UTC",
    pages.filter(({ metrics }) => metrics.some(isWanted)).map(({ metrics }) => metrics.map(({ id }) => id)),
  );
  const set = (next: {
    find?: string | undefined;
    source?: string | undefined;
    owner?: typeof owner | undefined;
    create?: "yes" | undefined;
  }): void => void navigate({ search: (before) => ({ ...before, ...next }), replace: "find" in next });

  return (
    <div className="screen">
      <PageHeader
        title="Metrics"
        actions={
          <>
            <EqualsApiCall call={apiCalls.listMetrics(source)} />
            {mayWrite && (
              <button type="button" className="button primary" onClick={() => set({ create: "yes" })}>
                <Icon name="plus" />
                Create a metric
              </button>
            )}
          </>
        }
      >
        One for each type of event. The first event of a type makes its metric.
      </PageHeader>
      <Toolbar label="Filter">
        <SearchField
          label="Find metrics"
          placeholder="Name, description or id"
          value={find}
          onChange={(value) => set({ find: value })}
        />
        <Segments
          label="Owner"
          value={owner ?? "all"}
          options={[
            { value: "all", title: "All" },
            { value: "own", title: "Own" },
            { value: "platform", title: "Platform" },
          ]}
          onChange={(value) => set({ owner: value === "all" ? undefined : value })}
        />
        {source !== undefined && (
          <span className="condition">
            <span>
              <span className="muted">Source is</span> <bdi>{source}</bdi>
            </span>
            <button
              type="button"
              className="icon-button"
              aria-label={`Take away: source is ${source}`}
              onClick={() => set({ source: undefined })}
            >
              <Icon name="close" />
            </button>
          </span>
        )}
      </Toolbar>
      {list.isError && !list.data ? (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Table
          label="Metrics"
          columns={columnsOf(propertyId, lines, (wanted) => set({ source: wanted }))}
          rows={rows?.length === 0 && searchesOn ? undefined : rows}
          keyOf={({ id }) => id}
          empty={<NoMetrics isFiltered={find !== "" || source !== undefined || owner !== undefined} />}
        />
      )}
      {list.isError && list.data && <ErrorState error={list.error} onRetry={() => void fetchNextPage()} />}
      {find !== "" && hasNextPage && !searchesOn && (
        <p className="muted">
          {formatCount(pages.reduce((sum, { metrics }) => sum + metrics.length, 0))} metrics were looked through. Load
          more to look through the next.
        </p>
      )}
      <LoadMore hasMore={hasNextPage && !searchesOn} isLoading={isFetching} onMore={() => void fetchNextPage()} />
      {create === "yes" && mayWrite && <CreateMetric onClose={() => set({ create: undefined })} />}
    </div>
  );
}

function matcher(find: string): (metric: Metric) => boolean {
  const wanted = find.trim().toLowerCase();
  return ({ name, description = "", originalName = "", id }) =>
    [name, description, originalName, id].some((text) => text.toLowerCase().includes(wanted));
}

function columnsOf(
  property: string,
  lines: ReadonlyMap<string, readonly bigint[]>,
  onSource: (source: string) => void,
): readonly Column<Metric>[] {
  return [
    {
      id: "name",
      title: "Name",
      cell: ({ id, name, description, system }) => (
        <div>
          <Link to="/$property/metrics/$metric" params={{ property, metric: id }} className="row-open">
            {name}
          </Link>{" "}
          {system && <Badge>Platform</Badge>}
          {description !== undefined && <span className="help">{description}</span>}
        </div>
      ),
    },
    {
      id: "line",
      title: `Last ${sparklineDays} days`,
      cell: ({ id, name }) => <Line counts={lines.get(id)} name={name} />,
    },
    {
      id: "lately",
      title: `Events in ${sparklineDays} days`,
      align: "end",
      cell: ({ id }) => {
        const counts = lines.get(id);
        return counts && <Count value={total(counts)} />;
      },
    },
    { id: "all", title: "All events", align: "end", cell: ({ eventCount }) => <Count value={eventCount} /> },
    {
      id: "last",
      title: "Last event",
      cell: ({ lastReceivedAt }) =>
        lastReceivedAt ? <Time at={lastReceivedAt} /> : <span className="muted">None yet</span>,
    },
    {
      id: "source",
      title: "Source",
      isMinor: true,
      cell: ({ source }) =>
        source !== undefined && (
          <button
            type="button"
            className="row-open"
            aria-label={`Only source ${source}`}
            onClick={() => onSource(source)}
          >
            {source}
          </button>
        ),
    },
  ];
}

const total = (counts: readonly bigint[]): bigint => counts.reduce((sum, count) => sum + count, 0n);

function Line({ counts, name }: { counts: readonly bigint[] | undefined; name: string }): React.ReactNode {
  // Its place is kept while it loads.
  if (!counts) return <span className="sparkline" />;
  const label = `${name}: ${formatCount(total(counts))} events in the last ${sparklineDays} days`;
  return <Sparkline values={counts.map(String)} label={label} />;
}

const example = '{"type":"order.completed","identifier":{"type":"email","value":"ada@example.com"},"properties":{}}';

function NoMetrics({ isFiltered }: { isFiltered: boolean }): React.ReactNode {
  if (isFiltered) {
    return (
      <EmptyState title="No metric is like that">
        <p>Clear the search and the filter to see the others.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No metrics yet">
      <p>The first event of a type makes its metric, and it appears here a moment later.</p>
      <Curl call={apiCalls.recordEvent(example)} />
    </EmptyState>
  );
}
