/** What the outboxes hold, and which of their messages fail. */
import type { FailingMessage, Outbox } from "#proto/daybook/common/v1/bus_pb.ts";
import { Copy } from "../../components/copy.tsx";
import { Section } from "../../components/page.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Count } from "../../components/values.tsx";
import { Advice, InPrometheus } from "./prometheus.tsx";

const columns: readonly Column<Outbox>[] = [
  { id: "name", title: "Outbox", cell: ({ name }) => name },
  {
    id: "unpublished",
    title: "Unpublished",
    align: "end",
    cell: ({ unpublished }) => <Count value={unpublished} />,
  },
  {
    id: "published",
    title: "Published, not taken",
    align: "end",
    cell: ({ published }) => <Count value={published} />,
  },
  { id: "bytes", title: "Bytes", align: "end", cell: ({ bytes }) => <Count value={bytes} /> },
  { id: "failing", title: "Failing", align: "end", cell: ({ failing }) => <Failing messages={failing} /> },
];

/** As many as DescribeBus shows. */
const failingShownMax = 20;

function Failing({ messages }: { messages: readonly FailingMessage[] }): React.ReactNode {
  if (messages.length < failingShownMax) return <Count value={messages.length} />;
  return <span className="number">{failingShownMax} or more</span>;
}

const failingColumns: readonly Column<FailingMessage & { outbox: string }>[] = [
  { id: "message", title: "Message", cell: ({ messageId }) => <Copy text={messageId} /> },
  { id: "outbox", title: "Outbox", cell: ({ outbox }) => outbox },
  { id: "subject", title: "Subject", cell: ({ subject }) => <code>{subject}</code>, isMinor: true },
  { id: "attempts", title: "Attempts", align: "end", cell: ({ attempts }) => <Count value={attempts} /> },
  { id: "reason", title: "Last reason", cell: ({ reason }) => reason },
];

export function Outboxes({ outboxes }: { outboxes: readonly Outbox[] | undefined }): React.ReactNode {
  const failing = (outboxes ?? []).flatMap(({ name, failing: messages }) =>
    messages.map((message) => ({ ...message, outbox: name })),
  );
  return (
    <Section title="Outboxes">
      {failing.length > 0 && (
        <Advice see="consumer">
          Messages are refused, and tried again by themselves. Mend what the reason names. While an outbox holds more
          than <code>OUTBOX_BYTES_MAX</code>, writes are refused.
        </Advice>
      )}
      <Table label="Outboxes" columns={columns} rows={outboxes} keyOf={({ name }) => name} empty={null} />
      {failing.length > 0 && (
        <Table
          label="Failing messages"
          columns={failingColumns}
          rows={failing}
          keyOf={({ messageId }) => messageId}
          empty={null}
        />
      )}
      <InPrometheus names={["unpublished", "published"]} />
    </Section>
  );
}
