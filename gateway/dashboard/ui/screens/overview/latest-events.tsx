/** The last events that happened. */
import { Link, useNavigate } from "@tanstack/react-router";
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import { eventColumns } from "../../components/events.tsx";
import { Section } from "../../components/page.tsx";
import { Table } from "../../components/table.tsx";
import { useProperty } from "../../data/viewer.ts";

const columns = eventColumns("occurred");

export function LatestEvents({ events }: { events: readonly Event[] }): React.ReactNode {
  const { id: property } = useProperty();
  const navigate = useNavigate();
  return (
    <Section
      title="Latest events"
      actions={
        <Link to="/$property/events" params={{ property }} search={{ live: "on" }} className="button small">
          See them live
        </Link>
      }
    >
      <Table
        label="Latest events"
        columns={columns}
        rows={events}
        keyOf={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: "/$property/events", params: { property }, search: { event: id } })}
        empty={null}
      />
    </Section>
  );
}
