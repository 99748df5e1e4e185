/** Operate: how the processes, the bus and the roll-ups of the whole installation get on. */
import { PageHeader, Section } from "../../components/page.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { useMayEverywhere } from "../../data/viewer.ts";
import "../../styles/team.css";
import { Consumers } from "./consumers.tsx";
import { DeadLetters } from "./dead-letters.tsx";
import { Outboxes } from "./outboxes.tsx";
import { Processes } from "./processes.tsx";
import { Advice } from "./prometheus.tsx";
import { Rollups } from "./rollups.tsx";
import { useBus } from "./use-bus.ts";

export function OperateScreen(): React.ReactNode {
  const mayOperate = useMayEverywhere("operate");
  return (
    <div className="screen">
      <PageHeader title="Operate">
        The whole installation, read every 5 seconds. On the command line: <code>daybook bus status</code>
      </PageHeader>
      {mayOperate ? (
        <Figures />
      ) : (
        <EmptyState title="Only admins of all properties operate Daybook">
          <p>Its processes serve every property. Ask an admin of all.</p>
        </EmptyState>
      )}
    </div>
  );
}

function Figures(): React.ReactNode {
  const { bus, failed, reread } = useBus();
  const [first] = failed;
  return (
    <>
      <Processes />
      {bus || !first ? (
        <>
          {failed.length > 0 && (
            <Advice see="process" tone="bad">
              The service {failed.map(({ owner }) => owner).join(", ")} does not answer: its outbox is not shown.
            </Advice>
          )}
          <Outboxes outboxes={bus?.outboxes} />
          <Consumers bus={bus} />
          <DeadLetters bus={bus} onRetried={reread} />
        </>
      ) : (
        <Section title="Outboxes and consumers">
          <ErrorState error={first.error} onRetry={reread} />
        </Section>
      )}
      <Rollups />
    </>
  );
}
