/** Figures and charts of the last hour and the last days. */
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { UseQueryResult } from "@tanstack/react-query";
import type { CountRecentEventsResponse } from "#proto/daybook/event/v1/event_pb.ts";
import type { DescribeActivityResponse } from "#proto/daybook/metric/v1/metric_pb.ts";
import { Chart, Sparkline } from "../../components/chart.tsx";
import { Figure } from "../../components/page.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { ErrorState } from "../../components/states.tsx";
import { Amount, Count } from "../../components/values.tsx";
import { sumOf } from "../../data/decimals.ts";
import { formatAmount, formatCount } from "../../data/numbers.ts";

interface Props {
  activity: UseQueryResult<DescribeActivityResponse>;
  recent: UseQueryResult<CountRecentEventsResponse>;
  timezone: string;
}

export function Activity({ activity, recent, timezone }: Props): React.ReactNode {
  return (
    <>
      <Figures activity={activity.data} recent={recent.data} />
      <div className="charts">
        <Loaded query={recent}>{(data) => <Minutes data={data} />}</Loaded>
        <Loaded query={activity}>{(data) => <Days data={data} timezone={timezone} />}</Loaded>
      </div>
      {activity.data && <Values data={activity.data} timezone={timezone} />}
    </>
  );
}

const total = (counts: readonly bigint[]): bigint => counts.reduce((sum, count) => sum + count, 0n);

function Figures({
  activity,
  recent,
}: {
  activity: DescribeActivityResponse | undefined;
  recent: CountRecentEventsResponse | undefined;
}): React.ReactNode {
  const hour = recent && total(recent.minutes.map(({ count }) => count));
  return (
    <div className="figures">
      <Figure title="Events in the last hour" value={hour === undefined ? "…" : <Count value={hour} />}>
        <p className="muted">{recent?.isCut ? `in the last ${recent.minutes.length} minutes only` : "received"}</p>
      </Figure>
      <Today title="Events today" days={activity?.events} />
      <Today title="New profiles today" days={activity?.newProfiles} />
    </div>
  );
}

function Today({ title, days }: { title: string; days: readonly bigint[] | undefined }): React.ReactNode {
  const today = days?.at(-1);
  const before = days?.at(-2);
  return (
    <Figure title={title} value={today === undefined ? "…" : <Count value={today} />}>
      {days && <Sparkline values={days.map(String)} label={`${title}, and the days before`} />}
      <p className="muted">
        {before === undefined ? "\u00a0" : `${formatCount(before)} yesterday, `}
        {days && before !== undefined && `${formatCount(total(days))} in ${days.length} days`}
      </p>
    </Figure>
  );
}

/** The place of a chart, whatever becomes of its data. */
function Loaded<Data>({
  query,
  children,
}: {
  query: UseQueryResult<Data>;
  children: (data: Data) => React.ReactNode;
}): React.ReactNode {
  return (
    <div className="card chart-card">
      {query.data !== undefined ? (
        children(query.data)
      ) : query.isError ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton lines={6} />
      )}
    </div>
  );
}

function Minutes({ data: { minutes } }: { data: CountRecentEventsResponse }): React.ReactNode {
  const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
  return (
    <Chart
      label="Events a minute"
      kind="bar"
      times={minutes.map(({ startsAt }) => (startsAt ? timestampDate(startsAt) : new Date(0)))}
      series={[{ name: "Events", values: minutes.map(({ count }) => String(count)) }]}
      format={formatCount}
      formatTime={(at) => clock.format(at)}
      timeZone={clock.resolvedOptions().timeZone}
      isLastOpen
    />
  );
}

function Days({ data, timezone: timeZone }: { data: DescribeActivityResponse; timezone: string }): React.ReactNode {
  const long = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeZone });
  return (
    <Chart
      label="Events a day"
      kind="bar"
      times={data.dayStarts.map(timestampDate)}
      series={[{ name: "Events", values: data.events.map(String) }]}
      format={formatCount}
      formatTime={(at) => long.format(at)}
      timeZone={timeZone}
      isLastOpen
    />
  );
}

/** One row for each currency: amounts of several are never added. */
function Values({ data, timezone }: { data: DescribeActivityResponse; timezone: string }): React.ReactNode {
  const { values, dayStarts } = data;
  if (values.length === 0) return null;
  const whole = `${dayStarts.length} days`;
  return (
    <div className="card">
      <h2>Value by currency</h2>
      <div className="scroll" tabIndex={0} role="region" aria-label="Value by currency">
        <table className="table plain-table">
          <thead>
            <tr>
              <th scope="col">Currency</th>
              <th scope="col" data-align="end">
                Today
              </th>
              <th scope="col" data-align="end">
                Yesterday
              </th>
              <th scope="col" data-align="end">
                {whole}
              </th>
              <th scope="col">By day</th>
            </tr>
          </thead>
          <tbody>
            {values.map(({ currency, sums }) => (
              <tr key={currency}>
                <td data-title="Currency">{currency}</td>
                {Object.entries({ Today: sums.at(-1), Yesterday: sums.at(-2), [whole]: sumOf(sums) }).map(
                  ([name, sum]) => (
                    <td key={name} data-title={name} data-align="end">
                      {sum !== undefined && <Amount value={sum} currency={currency} />}
                    </td>
                  ),
                )}
                <td data-title="By day">
                  <Sparkline
                    values={sums}
                    label={`${currency} by day of ${timezone}: ${formatAmount(sumOf(sums), currency)} in ${whole}`}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
