/** Live: events as they are recorded. It is complete, or says what it left out. */
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { eventColumns } from "../../components/events.tsx";
import { Icon } from "../../components/icon.tsx";
import { EmptyState } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Count } from "../../components/values.tsx";
import { formatCount } from "../../data/numbers.ts";
import { shortcuts, useShortcuts } from "../../data/shortcuts.ts";
import { formatAbsolute } from "../../data/times.ts";
import { LiveFeed, type LiveRow, type LiveView as View, rowsMax } from "./live-feed.ts";

const announceMs = 20_000;

const columns: readonly Column<LiveRow>[] = eventColumns("received").map(({ cell, ...column }, index) => ({
  ...column,
  cell: (row: LiveRow) => {
    if (row.is === "gap") return index === 0 ? <strong>+{formatCount(row.count)} more</strong> : null;
    // Seconds tell rows apart that all are "now".
    if (column.id === "time") return <ReceivedAt at={row.event.receivedAt} />;
    return cell({ ...row.event, occurredAt: undefined, receivedAt: undefined });
  },
}));

function ReceivedAt({ at }: { at: string }): React.ReactNode {
  const date = new Date(at);
  return (
    <time className="time number" dateTime={at} title={`${formatAbsolute(date)}\n${at}`}>
      {formatClock(date)}
    </time>
  );
}

export function LiveView({
  url,
  openId,
  onOpen,
}: {
  /** Of the stream. Give it as the key too. */
  url: string;
  openId: string | undefined;
  onOpen: (row: LiveRow) => void;
}): React.ReactNode {
  const [feed] = useState(() => new LiveFeed(url));
  const view = useSyncExternalStore(feed.subscribe, feed.view);
  useEffect(() => feed.run(), [feed]);
  useShortcuts({ [shortcuts.pause.keys]: () => feed.togglePause() });
  const { rows, isPaused, isCut } = view;
  return (
    <>
      <div className="live-bar" data-state={isPaused ? "paused" : view.state.is}>
        <span className="live-mark" aria-hidden="true" />
        <div>
          <strong>{stateTitle(view)}</strong>
          <Totals view={view} />
        </div>
        <button type="button" className="button" onClick={() => feed.togglePause()}>
          <Icon name={isPaused ? "play" : "pause"} />
          {isPaused ? "Resume" : "Pause"}
          <kbd>.</kbd>
        </button>
      </div>
      <Announcer view={view} />
      {view.state.is === "refused" && !isPaused && (
        <p className="inline-error" role="alert">
          {view.state.advice}
        </p>
      )}
      <Table
        label="Live events"
        columns={columns}
        rows={rows}
        keyOf={({ is, id }) => is + id}
        openKey={openId === undefined ? undefined : `event${openId}`}
        onOpen={onOpen}
        empty={
          <EmptyState title={isPaused ? "Paused" : "Waiting for events"}>
            <p>Events appear here within a second or two of being recorded. The filter above holds for them too.</p>
          </EmptyState>
        }
      />
      {isCut && (
        <p className="muted">
          The newest {formatCount(rowsMax)} rows stand here. Switch Live off to list the earlier events.
        </p>
      )}
    </>
  );
}

/** Exact: shown and skipped together are all that were recorded. */
function Totals({ view: { since, shown, skipped } }: { view: View }): React.ReactNode {
  if (!since) return null;
  return (
    <span className="live-totals" data-shown={String(shown)} data-skipped={String(skipped)}>
      <Count value={shown + skipped} /> recorded since {formatClock(since)}
      {skipped > 0n && (
        <>
          : <Count value={shown} /> shown, <Count value={skipped} /> more
        </>
      )}
    </span>
  );
}

function stateTitle({ isPaused, pausedAt, state }: View): string {
  if (isPaused) return `Paused${pausedAt ? ` at ${formatClock(pausedAt)}` : ""}. Resuming continues from here.`;
  return titles[state.is];
}

const titles: Readonly<Record<View["state"]["is"], string>> = {
  open: "Live",
  connecting: "Connecting …",
  queued: "Waiting: three other streams are open in this browser. Close or pause one of them.",
  lost: "The connection is lost. Live comes back by itself, and continues from here.",
  refused: "Live has ended",
};

/** Tells readers of the screen sparsely what came, and at once when the state changes. */
function Announcer({ view }: { view: View }): React.ReactNode {
  const [told, setTold] = useState("");
  const total = useRef(0n);
  useEffect(() => {
    total.current = view.shown + view.skipped;
  });
  useEffect(() => {
    const tell = (): void => setTold(total.current === 0n ? "" : `${formatCount(total.current)} events`);
    const timer = setInterval(tell, announceMs);
    return () => clearInterval(timer);
  }, []);
  return (
    <p className="hidden" role="status">
      {stateTitle(view)} {told}
    </p>
  );
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const formatClock = (at: Date): string => clock.format(at);
