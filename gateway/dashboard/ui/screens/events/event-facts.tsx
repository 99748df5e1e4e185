/** What is on record of one event. Loaded when the first event is opened: the list needs none of it. */
import { useMemo, useState } from "react";
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import { apiCalls } from "../../api-calls.ts";
import { Curl, EqualsApiCall } from "../../components/api-call.tsx";
import { Copy } from "../../components/copy.tsx";
import { EventValue, ProfileLink } from "../../components/events.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { Badge, KeyValues } from "../../components/page.tsx";
import { Time } from "../../components/values.tsx";
import { bodyOf } from "./record-again.ts";

export default function EventFacts({ event }: { event: Event }): React.ReactNode {
  const { id, type, profileId, value, source, backfill, dedupeId, propertiesJson } = event;
  return (
    <>
      <KeyValues
        rows={{
          Id: <Copy text={id} />,
          Type: <code>{type}</code>,
          Profile: <ProfileLink id={profileId} />,
          "Profile id": profileId === undefined ? undefined : <Copy text={profileId} label="Copy the profile's id" />,
          Value: value === undefined ? undefined : <EventValue event={event} />,
          Occurred: <Time at={event.occurredAt} absolute focusable />,
          Received: <Time at={event.receivedAt} absolute focusable />,
          "Dedupe id": dedupeId === undefined ? undefined : <Copy text={dedupeId} label="Copy the dedupe id" />,
          Source: (
            <>
              {source} {backfill && <Badge>backfill</Badge>}
            </>
          ),
        }}
      />
      <h3>Properties</h3>
      <JsonView text={propertiesJson} label="Properties" />
      <RecordAgain event={event} />
      <div className="actions">
        <EqualsApiCall call={apiCalls.getEvent(id)} />
      </div>
    </>
  );
}

function RecordAgain({ event }: { event: Event }): React.ReactNode {
  const [isOpen, setOpen] = useState(false);
  const body = useMemo(() => bodyOf(event), [event]);
  if (body === undefined) return null;
  return (
    <details className="disclosure" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Record it again by curl</summary>
      {isOpen && (
        <>
          <p className="help">
            It makes another event with a new id.{event.dedupeId !== undefined && " The dedupe id is left out."}
          </p>
          <Curl call={apiCalls.recordEvent(body)} />
        </>
      )}
    </details>
  );
}
