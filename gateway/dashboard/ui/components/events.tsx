/** What tables show of an event. Its fields are text of others: nothing in them becomes markup or a link. */
import { Link } from "@tanstack/react-router";
import { useProperty } from "../data/viewer.ts";
import type { Instant } from "../data/times.ts";
import { Badge } from "./page.tsx";
import type { Column } from "./table.tsx";
import { Amount, Time } from "./values.tsx";

export interface EventCells {
  type: string;
  profileId?: string | undefined;
  value?: string | undefined;
  currency?: string | undefined;
  source: string;
  backfill: boolean;
  occurredAt?: Instant | undefined;
  receivedAt?: Instant | undefined;
}

const time = { occurred: "Occurred", received: "Received" } as const;

/** @param by which time stands in the row. */
export function eventColumns(by: keyof typeof time): readonly Column<EventCells>[] {
  return [
    { id: "type", title: "Type", cell: ({ type }) => <code className="clamp">{type}</code> },
    { id: "profile", title: "Profile", cell: ({ profileId }) => <ProfileLink id={profileId} /> },
    { id: "value", title: "Value", align: "end", cell: (event) => <EventValue event={event} /> },
    { id: "source", title: "Source", cell: (event) => <Source event={event} />, isMinor: true },
    {
      id: "time",
      title: time[by],
      cell: ({ occurredAt, receivedAt }) => <Time at={by === "occurred" ? occurredAt : receivedAt} />,
    },
  ];
}

/** Leads to the profile of an event. */
export function ProfileLink({ id, whole = false }: { id: string | undefined; whole?: boolean }): React.ReactNode {
  const { id: property } = useProperty();
  if (id === undefined) return <span className="muted">Anonymous</span>;
  return (
    <Link to="/$property/profiles/$profile" params={{ property, profile: id }} title={id} className="id-link">
      <code>{whole ? id : `prof_…${id.slice(-6)}`}</code>
    </Link>
  );
}

export function EventValue({ event: { value, currency } }: { event: EventCells }): React.ReactNode {
  return value === undefined ? null : <Amount value={value} currency={currency} />;
}

function Source({ event: { source, backfill } }: { event: EventCells }): React.ReactNode {
  return (
    <>
      <span className="clamp">{source}</span> {backfill && <Badge>backfill</Badge>}
    </>
  );
}
