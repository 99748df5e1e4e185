/** How far a job is. */
import { Badge, Progress } from "../../components/page.tsx";
import { type Job, stateOf } from "./job.ts";

export function JobState({ job }: { job: Job }): React.ReactNode {
  const { word, tone } = stateOf(job);
  return <Badge tone={tone}>{word}</Badge>;
}

export function JobProgress({ job }: { job: Job }): React.ReactNode {
  const { completedCount, failedCount, totalCount } = job;
  return <Progress label="Items done" done={completedCount + failedCount} total={totalCount} />;
}
