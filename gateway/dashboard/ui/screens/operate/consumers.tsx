/** How far the consumers of the bus are. */
import type { Consumer } from "#proto/daybook/common/v1/bus_pb.ts";
import { Section } from "../../components/page.tsx";
import { EmptyState } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Count, Time, useNow } from "../../components/values.tsx";
import { dateOf } from "../../data/times.ts";
import { Advice, InPrometheus } from "./prometheus.tsx";
import type { BusView } from "./use-bus.ts";

/** A message that waits for longer than this is worth a look. */
const lateMs = 5 * 60_000;

const columns: readonly Column<Consumer>[] = [
  { id: "name", title: "Consumer", cell: ({ name }) => name },
  { id: "subject", title: "Of", cell: ({ subject }) => <code>{subject}</code>, isMinor: true },
  {
    id: "lag",
    title: "Lag",
    align: "end",
    cell: ({ waiting, delivered }) => <Count value={waiting + delivered} />,
  },
  { id: "waiting", title: "Waiting", align: "end", cell: ({ waiting }) => <Count value={waiting} />, isMinor: true },
  {
    id: "delivered",
    title: "At work",
    align: "end",
    cell: ({ delivered }) => <Count value={delivered} />,
    isMinor: true,
  },
  {
    id: "redelivered",
    title: "Redelivered",
    align: "end",
    cell: ({ redelivered }) => <Count value={redelivered} />,
  },
  { id: "dead", title: "Dead letters", align: "end", cell: ({ deadLetters }) => <Count value={deadLetters} /> },
  {
    id: "oldest",
    title: "Oldest",
    cell: ({ oldestAt }) => (oldestAt ? <Time at={oldestAt} /> : <span className="muted">Took all</span>),
  },
];

export function Consumers({ bus }: { bus: BusView | undefined }): React.ReactNode {
  const now = useNow();
  const late = (bus?.consumers ?? []).filter(
    ({ oldestAt }) => oldestAt && now.getTime() - dateOf(oldestAt).getTime() > lateMs,
  );
  return (
    <Section title="Consumers">
      {bus?.away !== undefined && (
        <Advice see="bus" tone="bad">
          The bus is away, so nothing is known of its consumers: {bus.away} Messages wait in the outboxes; nothing is
          lost.
        </Advice>
      )}
      {late.length > 0 && (
        <Advice see="consumer">
          {late.map(({ name }) => name).join(", ")} did not take a message for more than 5 minutes. Lag that shrinks
          needs time; else start another process of the service.
        </Advice>
      )}
      {bus?.away === undefined && (
        <Table
          label="Consumers"
          columns={columns}
          rows={bus?.consumers}
          keyOf={({ name }) => name}
          empty={
            <EmptyState title="The bus is within this process" level={3}>
              <p>
                It keeps nothing, so it has no consumers with a lag: a message stays in its outbox until it is taken.
                With NATS, they stand here.
              </p>
            </EmptyState>
          }
        />
      )}
      <InPrometheus names={["lag", "redelivered", "deadLetters"]} />
    </Section>
  );
}
