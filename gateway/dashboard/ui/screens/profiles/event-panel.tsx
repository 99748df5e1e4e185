/** One event of a timeline. */
import { useEffect } from "react";
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import { Copy } from "../../components/copy.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { Badge, KeyValues } from "../../components/page.tsx";
import { SidePanel } from "../../components/side-panel.tsx";
import { Amount, Time } from "../../components/values.tsx";

export function EventPanel({ of: event, onClose }: { of: Event; onClose: () => void }): React.ReactNode {
  const { id, type, value, currency, occurredAt, receivedAt, source, dedupeId, backfill, recordedFor } = event;
  useEffect(() => {
    // The timeline stands below the fold, and where it is narrow the panel takes its place.
    document.querySelector(".side-panel")?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <SidePanel title={<bdi>{type}</bdi>} onClose={onClose}>
      <KeyValues
        rows={{
          Id: <Copy text={id} />,
          Occurred: <Time at={occurredAt} absolute />,
          Received: <Time at={receivedAt} absolute />,
          Value: value !== undefined && <Amount value={value} currency={currency} />,
          Source: source,
          Backfill: backfill && <Badge>Recorded as history</Badge>,
          "Dedupe id": dedupeId !== undefined && <Copy text={dedupeId} />,
          "Recorded for": recordedFor !== undefined && (
            <>
              <Copy text={recordedFor} />
              <p className="help">This profile was merged into the one on the screen.</p>
            </>
          ),
        }}
      />
      <h3>Properties</h3>
      <JsonView text={event.propertiesJson} label="Properties" />
    </SidePanel>
  );
}
