/** One metric: how many events, what their values come to, how many profiles, over time and by group. */
import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { type Metric, MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { EqualsApiCall } from "../../components/api-call.tsx";
import { Copy } from "../../components/copy.tsx";
import { Segments } from "../../components/field.tsx";
import { Badge, PageHeader, Section } from "../../components/page.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { ScreenSkeleton, Skeleton } from "../../components/skeleton.tsx";
import { Time } from "../../components/values.tsx";
import { useMay, useProperty } from "../../data/viewer.ts";
import { type Answer, answerOf } from "./answer.ts";
import { AnswerCharts } from "./answer-charts.tsx";
import { AnswerProblem } from "./answer-problem.tsx";
import { AnswerTable, saveCsv } from "./answer-table.tsx";
import { readConditions } from "./condition.ts";
import { Controls } from "./controls.tsx";
import { DescribeMetric } from "./describe-metric.tsx";
import { type ChangeSearch, rangeDefault } from "./metric-search.ts";
import { Totals } from "./totals.tsx";
import {
  callOf,
  fittingInterval,
  intervals,
  type Measure,
  measures,
  type Question,
  requestOf,
  wholeIntervals,
} from "./view.ts";
import "../../styles/metrics.css";

const route = getRouteApi("/$property/metrics/$metric");

export function MetricScreen(): React.ReactNode {
  const { metric: metricId } = route.useParams();
  const { id: propertyId } = useProperty();
  const found = useQuery(
    MetricService.method.getMetrics,
    { propertyId, metricIds: [metricId] },
    { enabled: metricId !== "" },
  );
  if (found.isError) {
    return (
      <div className="screen">
        <PageHeader title="Metric" />
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      </div>
    );
  }
  if (metricId !== "" && !found.data) return <ScreenSkeleton />;
  const metric = found.data?.metrics[0];
  return metric ? <Known metric={metric} /> : <Missing />;
}

function Missing(): React.ReactNode {
  const { id: property } = useProperty();
  return (
    <div className="screen">
      <EmptyState title="There is no such metric" level={1}>
        <p>It is not in this property, or the address is not whole.</p>
        <Link to="/$property/metrics" params={{ property }}>
          All metrics
        </Link>
      </EmptyState>
    </div>
  );
}

function Known({ metric }: { metric: Metric }): React.ReactNode {
  const { id: propertyId, timezone } = useProperty();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const mayWrite = useMay("metrics:write") && !metric.system;
  const [now, setNow] = useState(() => new Date());
  const { range = rangeDefault, show = "count", zone = timezone || "UTC", by, by2, where } = search;
  const interval = search.interval ?? fittingInterval(range, now);
  const change: ChangeSearch = (next) => void navigate({ search: (before) => ({ ...before, ...next }) });

  const conditions = useMemo(() => readConditions(where), [where]);
  const question: Question = {
    propertyId,
    metricId: metric.id,
    ...wholeIntervals(range, interval, zone, now),
    zone,
    interval,
    groupBy: [by, by2].filter((field) => field !== undefined),
    conditions,
  };
  const asked = useQuery(MetricService.method.aggregateMetric, requestOf(question, [show]), {
    placeholderData: keepPreviousData,
  });
  const isStale = asked.isPlaceholderData;
  const answer = useMemo(
    () => (asked.data && !isStale ? answerOf(asked.data, show, conditions) : undefined),
    [asked.data, isStale, show, conditions],
  );

  return (
    <div className="screen">
      <PageHeader
        title={metric.name}
        actions={
          <>
            <EqualsApiCall call={callOf(question, show)} />
            {mayWrite && (
              <button type="button" className="button" onClick={() => change({ describe: "yes" })}>
                Describe
              </button>
            )}
          </>
        }
      >
        <MetricFacts metric={metric} />
      </PageHeader>
      <Controls metric={metric} search={search} interval={interval} zone={zone} onChange={change} />
      <Totals question={question} />
      <Section
        title={`${measures[show].title}${interval === "total" ? "" : ` by ${intervals[interval].title.toLowerCase()}`}`}
        actions={
          <div className="actions">
            <Segments
              label="Form"
              value={search.form ?? "chart"}
              options={[
                { value: "chart", title: "Chart" },
                { value: "table", title: "Table" },
              ]}
              onChange={(form) => change({ form: form === "table" ? form : undefined })}
            />
            <button
              type="button"
              className="button"
              disabled={!answer}
              onClick={() => answer && saveCsv(answer, metric.name, measures[show].name, question)}
            >
              Download CSV
            </button>
          </div>
        }
      >
        {asked.isError ? (
          <AnswerProblem error={asked.error} onChange={change} onRetry={() => void asked.refetch()} />
        ) : (
          <Shown answer={answer} show={show} question={question} isTable={search.form === "table"} />
        )}
        <p className="muted metric-as-of">
          {asked.data?.asOf && !asked.isError && (
            <span>
              As of <Time at={asked.data.asOf} absolute />: every event received up to then is counted.
            </span>
          )}
          <button type="button" className="button small" disabled={asked.isFetching} onClick={() => setNow(new Date())}>
            {asked.isFetching ? "Counting …" : "Count again"}
          </button>
        </p>
      </Section>
      {search.describe === "yes" && mayWrite && (
        <DescribeMetric metric={metric} onClose={() => change({ describe: undefined })} />
      )}
    </div>
  );
}

function Shown({
  answer,
  show,
  question,
  isTable,
}: {
  answer: Answer | undefined;
  show: Measure;
  question: Question;
  isTable: boolean;
}): React.ReactNode {
  if (!answer) {
    return (
      <div className="metric-space">
        <Skeleton lines={6} />
      </div>
    );
  }
  if (answer.lines.length === 0) {
    return (
      <EmptyState title="No events here" level={3}>
        <p>No event of this metric is in this range and filter. Choose a longer range, or take conditions away.</p>
      </EmptyState>
    );
  }
  // One interval is no line.
  if (isTable || answer.begins.length < 2) return <AnswerTable answer={answer} show={show} question={question} />;
  return <AnswerCharts answer={answer} show={show} question={question} />;
}

function MetricFacts({ metric }: { metric: Metric }): React.ReactNode {
  const { id: property } = useProperty();
  const { description, originalName, system, source, lastReceivedAt, id } = metric;
  return (
    <>
      <span className="metric-description">{description ?? originalName}</span>
      <span className="metric-facts">
        <Link to="/$property/metrics" params={{ property }}>
          All metrics
        </Link>
        <Copy text={id} short />
        {system && <Badge>Platform</Badge>}
        {source !== undefined && <span>Source {source}</span>}
        <span>
          {lastReceivedAt ? (
            <>
              Last event <Time at={lastReceivedAt} focusable />
            </>
          ) : (
            "No event yet"
          )}
        </span>
      </span>
    </>
  );
}
