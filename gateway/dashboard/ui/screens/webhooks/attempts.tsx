/** The times that a message was sent, and what came back. */
import type { Delivery } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { Badge } from "../../components/page.tsx";
import { Time } from "../../components/values.tsx";
import { formatCount } from "../../data/numbers.ts";
import { outcomeOf, succeeded } from "./states.tsx";

export function Attempts({ of: { attemptList } }: { of: Delivery }): React.ReactNode {
  if (attemptList.length === 0) return <p className="muted">It was not sent yet.</p>;
  return (
    <ol className="attempts">
      {attemptList.toReversed().map((attempt) => (
        <li key={attempt.number}>
          <p className="attempt">
            <span>
              <strong>Attempt {attempt.number}</strong> <Time at={attempt.startedAt} focusable />
            </span>
            <Badge tone={succeeded(attempt) ? "good" : "bad"}>{succeeded(attempt) ? "Delivered" : "Failed"}</Badge>
          </p>
          <p className="muted">
            {outcomeOf(attempt.responseStatus, attempt.error)}
            {", after "}
            {formatCount(attempt.durationMs)} ms
          </p>
          {attempt.responseExcerpt !== "" && (
            <pre className="excerpt" tabIndex={0} aria-label={`Answer to attempt ${attempt.number}`}>
              {attempt.responseExcerpt}
            </pre>
          )}
        </li>
      ))}
    </ol>
  );
}
