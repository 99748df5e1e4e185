/** Why there is no answer, and what to do: refusals of questions that are too large have ways out. */
import { ErrorSchema } from "#proto/daybook/common/v1/error_pb.ts";
import { ConnectError } from "@connectrpc/connect";
import { ErrorState } from "../../components/states.tsx";
import type { ChangeSearch } from "./metric-search.ts";

interface WayOut {
  title: string;
  change: Parameters<ChangeSearch>[0];
}

interface Problem {
  title: string;
  advice: string;
  waysOut: readonly WayOut[];
}

const ungrouped: WayOut = { title: "Do not group", change: { by: undefined, by2: undefined } };
const shorter: WayOut = { title: "Last 7 days", change: { range: "7d" } };

const tooManyEvents: Problem = {
  title: "Too many events to read one by one",
  advice:
    "Grouping and filtering by properties reads every event of the range. Choose a shorter range, or group and filter " +
    "by source and currency only, which has no such limit.",
  waysOut: [shorter, { title: "Do not group or filter", change: { by: undefined, by2: undefined, where: undefined } }],
};

const tooManyGroups: Problem = {
  title: "Too many groups, or too long values",
  advice: "Group by a field that has fewer and shorter values, choose some by a filter, or ask for longer intervals.",
  waysOut: [ungrouped, { title: "Totals only", change: { interval: "total" } }],
};

const tooManyIntervals: Problem = {
  title: "Too many intervals",
  advice: "Choose a shorter range or a longer interval.",
  waysOut: [{ title: "By month", change: { interval: "month" } }, shorter],
};

const throughList: Problem = {
  title: "This field lies within a list",
  advice: "An event has many values there, or none. Choose a field outside of lists.",
  waysOut: [{ title: "Do not group or filter", change: { by: undefined, by2: undefined, where: undefined } }],
};

function problemOf(code: string, param: string | undefined): Problem | undefined {
  if (code === "unsupported_group_by") return throughList;
  if (param === "interval") return tooManyIntervals;
  if (code !== "too_many_items") return undefined;
  return param === "to" ? tooManyEvents : tooManyGroups;
}

export function AnswerProblem({
  error,
  onChange,
  onRetry,
}: {
  error: unknown;
  onChange: ChangeSearch;
  onRetry: () => void;
}): React.ReactNode {
  const detail = error instanceof ConnectError ? error.findDetails(ErrorSchema)[0] : undefined;
  const first = detail?.errors[0] ?? detail;
  const problem = first && problemOf(first.code, first.param);
  if (!problem) return <ErrorState error={error} onRetry={onRetry} />;
  return (
    <div className="error-state" role="alert">
      <h3>{problem.title}</h3>
      <p>{problem.advice}</p>
      <p className="muted">{first.message}</p>
      <div className="actions">
        {problem.waysOut.map(({ title, change }) => (
          <button key={title} type="button" className="button" onClick={() => onChange(change)}>
            {title}
          </button>
        ))}
      </div>
    </div>
  );
}
