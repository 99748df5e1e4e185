/** Overview: whether events arrive, and which came last. */
import { useQuery } from "@connectrpc/connect-query";
import { type Event, EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { apiCalls } from "../../api-calls.ts";
import { Curl, EqualsApiCall } from "../../components/api-call.tsx";
import { Copy } from "../../components/copy.tsx";
import { PageHeader, Section } from "../../components/page.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Amount, Time } from "../../components/values.tsx";
import { useProperty } from "../../data/viewer.ts";

const shownMax = 10;
const rereadMs = 5000;

const columns: readonly Column<Event>[] = [
  { id: "type", title: "Type", cell: ({ type }) => <code>{type}</code> },
  { id: "profile", title: "Profile", cell: ({ profileId }) => <Whose id={profileId} /> },
  {
    id: "value",
    title: "Value",
    align: "end",
    cell: ({ value, currency }) => value !== undefined && <Amount value={value} currency={currency} />,
  },
  { id: "source", title: "Source", cell: ({ source }) => source, isMinor: true },
  { id: "occurred", title: "Occurred", cell: ({ occurredAt }) => <Time at={occurredAt} /> },
];

export function OverviewScreen(): React.ReactNode {
  const { id: propertyId } = useProperty();
  const list = useQuery(EventService.method.listEvents, { propertyId, limit: shownMax }, { refetchInterval: rereadMs });
  return (
    <div className="screen">
      <PageHeader title="Overview" actions={<EqualsApiCall call={apiCalls.listEvents()} />} />
      <Section title="Latest events">
        {list.isError ? (
          <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        ) : (
          <Table
            label="Latest events"
            columns={columns}
            rows={list.data?.events}
            keyOf={({ id }) => id}
            empty={<First />}
          />
        )}
      </Section>
    </div>
  );
}

function Whose({ id }: { id: string | undefined }): React.ReactNode {
  return id === undefined ? <span className="muted">Anonymous</span> : <Copy text={id} short />;
}

const example = `{
    "type": "order.completed",
    "identifier": { "type": "email", "value": "ada@example.com" },
    "value": "49.90",
    "currency": "EUR",
    "properties": { "order": "1001" }
  }`;

function First(): React.ReactNode {
  return (
    <EmptyState title="Waiting for your first event" level={3}>
      <p>Create a key on the screen Keys, then send an event. It appears here by itself.</p>
      <Curl call={apiCalls.recordEvent(example)} />
    </EmptyState>
  );
}
