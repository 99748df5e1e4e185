/** A first run: make a key, send an event with it, and see the event arrive. */
import { createConnectQueryKey, useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { sampleCalls } from "../../api-calls.ts";
import { Curl } from "../../components/api-call.tsx";
import { CopyButton } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { EventValue } from "../../components/events.tsx";
import { InlineError } from "../../components/field.tsx";
import { useMay, useProperty } from "../../data/viewer.ts";

const keyName = "First key";
// It records events and reads nothing.
const keyScopes = ["events:write"];

export function FirstRun({
  event,
  isStarting,
  onStarting,
}: {
  /** The first event, once it is there. */
  event: Event | undefined;
  /** Whether the dialog is open. */
  isStarting: boolean;
  onStarting: (isStarting: boolean) => void;
}): React.ReactNode {
  const { id: propertyId, name } = useProperty();
  const mayManage = useMay("keys:manage");
  const client = useQueryClient();
  const create = useMutation(IdentityService.method.createKey, {
    gcTime: 0,
    onSuccess: () => {
      onStarting(true);
      const schema = IdentityService.method.listKeys;
      void client.invalidateQueries({ queryKey: createConnectQueryKey({ schema, cardinality: undefined }) });
    },
  });
  return (
    <section className="card first-run" aria-label="First event">
      <h2>Record your first event</h2>
      <p>No event of {name} was recorded yet. It takes a minute:</p>
      <ol>
        <li>Make a key. A program calls the API with it.</li>
        <li>Run the command that you get: it sends an order.</li>
        <li>See the event arrive here.</li>
      </ol>
      {mayManage ? (
        <button
          type="button"
          className="button primary"
          disabled={create.isPending}
          onClick={() => create.mutate({ propertyId, name: keyName, scopes: keyScopes })}
        >
          Make a key
        </button>
      ) : (
        <>
          <p>An admin or a developer of this property makes the key. Then send an event:</p>
          <Curl call={sampleCalls.recordEvent} />
        </>
      )}
      <InlineError error={create.error} />
      {!isStarting && <Waiting event={event} />}
      {isStarting && create.data && (
        <Dialog
          title="Send an event"
          isSticky
          onClose={() => {
            create.reset();
            onStarting(false);
          }}
        >
          <p>
            This is the key <strong>{create.data.key?.name}</strong>. Copy it now: Daybook keeps only its hash and
            cannot show it again.
          </p>
          <div className="secret">
            <code>{create.data.secret}</code>
            <CopyButton text={create.data.secret} label="Copy the key" />
          </div>
          <p>Run this in a terminal:</p>
          <Curl call={sampleCalls.recordEvent} secret={create.data.secret} />
          <Waiting event={event} />
        </Dialog>
      )}
    </section>
  );
}

function Waiting({ event }: { event: Event | undefined }): React.ReactNode {
  const { id: property } = useProperty();
  return (
    <div className="waiting" role="status" data-arrived={event !== undefined}>
      <span className="live-mark on" aria-hidden="true" />
      {event ? (
        <>
          <span>
            Your first event is here: <code>{event.type}</code> <EventValue event={event} />
          </span>
          <Link to="/$property/events" params={{ property }} search={{ event: event.id }} className="button small">
            Open the event
          </Link>
        </>
      ) : (
        "Waiting for your first event …"
      )}
    </div>
  );
}
