/** Schemas: what attributes of profiles and properties of events were seen to be, and where their types conflict. */
import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import { MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { apiCalls } from "../../api-calls.ts";
import { Curl, EqualsApiCall } from "../../components/api-call.tsx";
import { SearchField, Segments } from "../../components/field.tsx";
import { Badge, PageHeader, Toolbar } from "../../components/page.tsx";
import { WithPanel } from "../../components/side-panel.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { type Column, LoadMore, Table } from "../../components/table.tsx";
import { Count, Time } from "../../components/values.tsx";
import { firstPage } from "../../data/pages.ts";
import { useMay, useProperty } from "../../data/viewer.ts";
import { isConflict, type Schema, schemaOfAttributes, schemaOfMetric } from "./schema.ts";
import { SchemaPanel } from "./schema-panel.tsx";
import "../../styles/metrics.css";

const route = getRouteApi("/$property/schemas");
const pageSize = 100;
// A search, and conflicts only, look through so many pages by themselves.
const searchedPagesMax = 25;

const columns: readonly Column<Schema>[] = [
  {
    id: "type",
    title: "Schema",
    cell: ({ eventType }) => (eventType === undefined ? "Attributes of profiles" : <code>{eventType}</code>),
  },
  { id: "paths", title: "Paths", align: "end", cell: ({ paths }) => <Count value={paths.length} /> },
  {
    id: "conflicts",
    title: "Conflicts",
    cell: ({ paths }) => {
      const conflicts = paths.filter(isConflict).length;
      if (conflicts === 0) return <span className="muted">None</span>;
      return <Badge tone="warning">{conflicts === 1 ? "1 path" : `${conflicts} paths`}</Badge>;
    },
  },
  { id: "since", title: "First event", isMinor: true, cell: ({ since }) => since && <Time at={since} /> },
  { id: "last", title: "Last event", cell: ({ last }) => last && <Time at={last} /> },
];

export function SchemasScreen(): React.ReactNode {
  const { id: propertyId } = useProperty();
  const mayReadMetrics = useMay("metrics:read");
  const { find = "", show, of, path } = route.useSearch();
  const navigate = route.useNavigate();
  const attributes = useQuery(ProfileService.method.getAttributeSchema, { propertyId });
  const types = useInfiniteQuery(
    MetricService.method.listMetrics,
    { propertyId, limit: pageSize, afterMetricId: firstPage },
    {
      pageParamKey: "afterMetricId",
      getNextPageParam: ({ metrics, hasMore }) => (hasMore ? metrics.at(-1)?.id : undefined),
      enabled: mayReadMetrics,
    },
  );
  const { hasNextPage, isFetching, isError, fetchNextPage } = types;
  const pages = types.data?.pages ?? [];
  const searchesOn = (find !== "" || show !== undefined) && hasNextPage && pages.length < searchedPagesMax;
  useEffect(() => {
    if (searchesOn && !isFetching && !isError) void fetchNextPage();
  }, [searchesOn, isFetching, isError, fetchNextPage]);

  const all = useMemo(
    () => [
      ...(attributes.data ? [schemaOfAttributes(attributes.data.schemaJson)] : []),
      ...(types.data?.pages ?? []).flatMap(({ metrics }) => metrics.map(schemaOfMetric)),
    ],
    [attributes.data, types.data],
  );
  const listed = all.find(({ id }) => id === of);
  // A link to one schema works wherever it is in the list.
  const linked = useQuery(
    MetricService.method.getMetrics,
    { propertyId, metricIds: [of ?? ""] },
    { enabled: mayReadMetrics && of !== undefined && of !== "profile" && !listed },
  );
  const isEmpty = all.every(({ paths }) => paths.length === 0);
  const wanted = isEmpty ? [] : all.filter((schema) => isWanted(schema, find, show));
  const isLoading = attributes.isPending || (mayReadMetrics && types.isPending) || (wanted.length === 0 && searchesOn);
  const linkedMetric = linked.data?.metrics[0];
  const open = listed ?? (linkedMetric && schemaOfMetric(linkedMetric));
  const set = (next: {
    find?: string | undefined;
    show?: "conflicts" | undefined;
    of?: string | undefined;
    path?: string | undefined;
  }): void => void navigate({ search: (before) => ({ ...before, ...next }), replace: "find" in next });
  const failed = [attributes, types].find((query) => query.isError && query.data === undefined);

  return (
    <div className="screen">
      <PageHeader title="Schemas" actions={<EqualsApiCall call={apiCalls.listSchemas()} />}>
        The types that attributes of profiles and properties of events had so far, by path.
      </PageHeader>
      <Toolbar label="Filter">
        <SearchField
          label="Find schemas"
          placeholder="Event type or path"
          value={find}
          onChange={(value) => set({ find: value })}
        />
        <Segments
          label="Which"
          value={show ?? "all"}
          options={[
            { value: "all", title: "All" },
            { value: "conflicts", title: "With conflicts" },
          ]}
          onChange={(value) => set({ show: value === "all" ? undefined : value })}
        />
      </Toolbar>
      <WithPanel
        panel={
          open && (
            <SchemaPanel
              key={open.id}
              schema={open}
              find={find}
              path={path}
              onPath={(next) => set({ path: next })}
              onClose={() => set({ of: undefined, path: undefined })}
            />
          )
        }
      >
        {failed ? (
          <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />
        ) : (
          <Table
            label="Schemas"
            columns={columns}
            rows={isLoading ? undefined : wanted}
            keyOf={({ id }) => id}
            openKey={open?.id}
            onOpen={({ id }) => set({ of: id, path: undefined })}
            empty={<NoSchemas isFiltered={!isEmpty} conflictsOnly={show !== undefined && find === ""} />}
          />
        )}
        {types.isError && types.data && <ErrorState error={types.error} onRetry={() => void fetchNextPage()} />}
        <LoadMore hasMore={hasNextPage && !searchesOn} isLoading={isFetching} onMore={() => void fetchNextPage()} />
      </WithPanel>
    </div>
  );
}

function isWanted({ eventType, paths }: Schema, find: string, show: "conflicts" | undefined): boolean {
  const wanted = find.trim().toLowerCase();
  if (show !== undefined && !paths.some(isConflict)) return false;
  const texts = [eventType ?? "attributes of profiles", ...paths.map((one) => one.path)];
  return texts.some((text) => text.toLowerCase().includes(wanted));
}

const example =
  '{"type":"order.completed","identifier":{"type":"email","value":"ada@example.com"},"properties":{"plan":"gold"}}';

function NoSchemas({ isFiltered, conflictsOnly }: { isFiltered: boolean; conflictsOnly: boolean }): React.ReactNode {
  if (conflictsOnly && isFiltered) {
    return (
      <EmptyState title="No conflicts">
        <p>No path was seen with two types.</p>
      </EmptyState>
    );
  }
  if (isFiltered) {
    return (
      <EmptyState title="No schema is like that">
        <p>Clear the search to see the others.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="Nothing was observed yet">
      <p>Attributes of profiles and properties of events appear here as they are first written.</p>
      <Curl call={apiCalls.recordEvent(example)} />
    </EmptyState>
  );
}
