/** Lines of the last 30 days for the rows of a table. */
import { createQueryOptions, useTransport } from "@connectrpc/connect-query";
import { useQueries } from "@tanstack/react-query";
import { MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";

export const sparklineDays = 30;

/**
 * @param pages ids of metrics, at most 100 in each: one call a page, so that more pages ask for nothing twice.
 * @returns id → events by day; without an entry while it loads, and where there are too many to count.
 */
export function useSparklines(
  propertyId: string,
  timezone: string,
  pages: readonly (readonly string[])[],
): ReadonlyMap<string, readonly bigint[]> {
  const transport = useTransport();
  const answers = useQueries({
    queries: pages.map((ids) => ({
      ...createQueryOptions(
        MetricService.method.listSparklines,
        { propertyId, metricIds: [...ids], days: sparklineDays, timezone },
        { transport },
      ),
      staleTime: 60_000,
    })),
  });
  return new Map(
    answers.flatMap(({ data }) => data?.sparklines.map(({ metricId, counts }) => [metricId, counts] as const) ?? []),
  );
}
