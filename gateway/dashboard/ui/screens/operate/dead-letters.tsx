/** Messages that consumers have given up, and giving them back. */
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { BusService, type DeadLetter } from "#proto/daybook/common/v1/bus_pb.ts";
import { Copy } from "../../components/copy.tsx";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { Section } from "../../components/page.tsx";
import { EmptyState } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { toast } from "../../components/toasts.tsx";
import { Count, Time } from "../../components/values.tsx";
import { formatCount } from "../../data/numbers.ts";
import { Advice } from "./prometheus.tsx";
import { busTransport, type BusView } from "./use-bus.ts";

/** What is to be given back: one, or all of a consumer. */
interface Asked {
  consumer: string;
  messageId?: string;
}

export function DeadLetters({ bus, onRetried }: { bus: BusView | undefined; onRetried: () => void }): React.ReactNode {
  const [asked, setAsked] = useState<Asked>();
  if (bus?.away !== undefined) return null;
  const letters = bus?.deadLetters;
  const counts = new Map(
    (bus?.consumers ?? []).filter(({ deadLetters }) => deadLetters > 0n).map((each) => [each.name, each.deadLetters]),
  );
  // A consumer that is not there any more has letters too.
  for (const { consumer } of letters ?? []) if (!counts.has(consumer)) counts.set(consumer, 0n);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0n);
  const columns: readonly Column<DeadLetter>[] = [
    { id: "message", title: "Message", cell: ({ messageId }) => <Copy text={messageId} /> },
    { id: "consumer", title: "Given up by", cell: ({ consumer }) => consumer },
    { id: "subject", title: "Subject", cell: ({ subject }) => <code>{subject}</code>, isMinor: true },
    { id: "reason", title: "Last reason", cell: ({ reason }) => reason },
    { id: "deliveries", title: "Deliveries", align: "end", cell: ({ deliveries }) => <Count value={deliveries} /> },
    { id: "died", title: "Given up", cell: ({ diedAt }) => <Time at={diedAt} /> },
    {
      id: "retry",
      title: "Give back",
      align: "end",
      cell: ({ consumer, messageId }) => (
        <button
          type="button"
          className="button small"
          aria-label={`Give back message ${messageId} to ${consumer}`}
          onClick={() => setAsked({ consumer, messageId })}
        >
          Give back
        </button>
      ),
    },
  ];
  return (
    <Section title="Dead letters">
      {letters && letters.length > 0 && (
        <Advice see="deadLetters" tone="bad">
          A dead letter is the only copy of its message, and lasts 7 days. Mend what its reason names, then give it
          back.
        </Advice>
      )}
      {letters && letters.length > 0 && (
        <div className="actions">
          {[...counts].map(([consumer, count]) => (
            <button key={consumer} type="button" className="button" onClick={() => setAsked({ consumer })}>
              Give all back to {consumer}
              {count > 0n && ` (${formatCount(count)})`}
            </button>
          ))}
        </div>
      )}
      <Table
        label="Dead letters"
        columns={columns}
        rows={letters}
        keyOf={({ consumer, messageId, diedAt }) => `${consumer} ${messageId} ${diedAt?.seconds} ${diedAt?.nanos}`}
        empty={
          <EmptyState title="No dead letters" level={3}>
            <p>
              With NATS, a message that a consumer fails at 10 times stands here with the reason, to be given back once
              that is mended.
            </p>
          </EmptyState>
        }
      />
      {letters && total > BigInt(letters.length) && (
        <p className="muted">
          The oldest {formatCount(letters.length)} of {formatCount(total)}.
        </p>
      )}
      {asked && <GiveBack asked={asked} onRetried={onRetried} onClose={() => setAsked(undefined)} />}
    </Section>
  );
}

function GiveBack({
  asked: { consumer, messageId },
  onRetried,
  onClose,
}: {
  asked: Asked;
  onRetried: () => void;
  onClose: () => void;
}): React.ReactNode {
  const [retried, setRetried] = useState(0);
  const retry = useMutation(BusService.method.retryDeadLetters, { transport: busTransport });
  /** A call gives some thousands back: it is repeated until those were all. */
  const giveBack = async (): Promise<void> => {
    let sum = 0;
    for (;;) {
      const step = await retry.mutateAsync({ consumer, ...(messageId !== undefined && { messageId }) });
      sum += step.retried;
      setRetried(sum);
      if (step.complete || step.retried === 0) break;
    }
    onRetried();
    toast(sum === 1 ? "1 message was given back." : `${formatCount(sum)} messages were given back.`);
    onClose();
  };
  const what = messageId === undefined ? `all dead letters of ${consumer}` : `one dead letter of ${consumer}`;
  return (
    <ConfirmDialog
      title={`Give back ${what}?`}
      action="Give back"
      isPending={retry.isPending}
      error={retry.error}
      onConfirm={() => void giveBack().catch(() => onRetried())}
      onClose={onClose}
    >
      {messageId !== undefined && <code>{messageId}</code>}
      <p>
        {consumer} takes {messageId === undefined ? "them" : "it"} again; no other consumer does. What still fails
        becomes a dead letter again. Nothing is counted twice.
      </p>
      {retried > 0 && <p role="status">{formatCount(retried)} so far</p>}
    </ConfirmDialog>
  );
}
