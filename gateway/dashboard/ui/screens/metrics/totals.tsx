/** The figures of the whole range: events, profiles, and one sum for each currency. */
import { useQuery } from "@connectrpc/connect-query";
import { useId } from "react";
import { MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { Figure } from "../../components/page.tsx";
import { Amount, Count } from "../../components/values.tsx";
import { answerOf, isAllZero } from "./answer.ts";
import { type Question, requestOf } from "./view.ts";

const sumsMax = 4;

export function Totals({ question }: { question: Question }): React.ReactNode {
  const counts = useQuery(MetricService.method.aggregateMetric, requestOf(question, ["count", "profiles"], true));
  const sums = useQuery(MetricService.method.aggregateMetric, requestOf(question, ["sum"], true));
  const id = useId();
  const all = counts.data?.series[0];
  const lines = sums.data && answerOf(sums.data, "sum", question.conditions).lines;
  const amounts = lines?.filter((line) => line.currency !== undefined || !isAllZero(line));
  // The chart says why there is no answer.
  const unknown = "–";
  const waiting = "…";
  return (
    <section aria-labelledby={id}>
      <h2 id={id} className="hidden">
        In the whole range
      </h2>
      <div className="figures">
        <Figure
          title="Events"
          value={all?.count[0] === undefined ? counts.isError ? unknown : waiting : <Count value={all.count[0]} />}
        />
        <Figure
          title="Unique profiles"
          value={
            all?.uniqueProfiles[0] === undefined ? (
              counts.isError ? (
                unknown
              ) : (
                waiting
              )
            ) : (
              <Count value={all.uniqueProfiles[0]} />
            )
          }
        />
        <Figure
          title="Sum of values"
          value={
            amounts ? (
              <Sums amounts={amounts.map(({ currency, values }) => ({ currency, value: values[0] ?? "0" }))} />
            ) : sums.isError ? (
              unknown
            ) : (
              waiting
            )
          }
        />
      </div>
    </section>
  );
}

function Sums({ amounts }: { amounts: readonly { currency: string | undefined; value: string }[] }): React.ReactNode {
  if (amounts.length === 0) return "None";
  const left = amounts.length - sumsMax;
  return (
    <span className="metric-sums">
      {amounts.slice(0, sumsMax).map(({ currency, value }) => (
        <span key={currency ?? ""}>
          <Amount value={value} currency={currency} /> {currency !== undefined && <small>{currency}</small>}
        </span>
      ))}
      {left > 0 && <small>and in {left} more currencies</small>}
    </span>
  );
}
