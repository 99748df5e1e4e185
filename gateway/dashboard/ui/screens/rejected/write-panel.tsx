/** One rejected write: each fault, who sent it, and what was sent with the faults marked. */
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { DashboardService } from "#proto/daybook/dashboard/v1/dashboard_pb.ts";
import { type RejectedWrite, RejectedWriteService } from "#proto/daybook/event/v1/rejected_pb.ts";
import { outwardCalls } from "../../outward-calls.ts";
import { EqualsApiCall } from "../../components/api-call.tsx";
import { Copy } from "../../components/copy.tsx";
import { InlineError } from "../../components/field.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { KeyValues } from "../../components/page.tsx";
import { SidePanel } from "../../components/side-panel.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { ErrorState } from "../../components/states.tsx";
import { Count, Time } from "../../components/values.tsx";
import { useMay, useProperty } from "../../data/viewer.ts";
import { Caller } from "./caller.tsx";
import { CodeLink } from "./code-link.tsx";
import { isKept, payloadStates, Severity, surfaces } from "./states.tsx";

export default function WritePanel({ writeId, onClose }: { writeId: string; onClose: () => void }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const { data, error, refetch } = useQuery(RejectedWriteService.method.getRejectedWrite, {
    propertyId,
    rejectedWriteId: writeId,
  });
  return (
    <SidePanel title={data?.write ? <code>{data.write.operation}</code> : "Rejected write"} onClose={onClose}>
      {data?.write ? (
        <Facts write={data.write} />
      ) : error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton lines={8} />
      )}
    </SidePanel>
  );
}

interface Fault {
  code: string;
  message: string;
  param?: string | undefined;
}

function faultsOf({ error }: RejectedWrite): readonly Fault[] {
  if (!error) return [];
  return error.errors.length > 0 ? error.errors : [error];
}

function Facts({ write }: { write: RejectedWrite }): React.ReactNode {
  const { id: property } = useProperty();
  const maySeeJobs = useMay("imports:read");
  const faults = faultsOf(write);
  return (
    <>
      <ul className="faults">
        {faults.map((fault, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- two faults can be alike, and their order is fixed
          <li key={index}>
            <p>{fault.message}</p>
            <p className="fault-place">
              {fault.param !== undefined && (
                <>
                  at <code>{fault.param}</code>{" "}
                </>
              )}
              <CodeLink code={fault.code} />
            </p>
          </li>
        ))}
      </ul>
      <KeyValues
        rows={{
          "How bad": <Severity of={write.severity} />,
          Status: <span className="number">{write.status}</span>,
          Refused: <Time at={write.rejectedAt} focusable />,
          By: surfaces[write.surface],
          Item: write.itemIndex !== undefined && (
            <>
              <Count value={write.itemIndex} /> <span className="muted">counted from 0</span>
            </>
          ),
          Reference: write.clientReference !== undefined && <Copy text={write.clientReference} />,
          "Event type": write.eventType !== undefined && <code>{write.eventType}</code>,
          "Sent by": <Caller id={write.installationId ?? write.keyId} name={write.keyName} />,
          Request: write.requestId !== "" && <Copy text={write.requestId} />,
          Job:
            write.jobId !== undefined &&
            (maySeeJobs ? (
              <Link to="/$property/jobs" params={{ property }} search={{ job: write.jobId }}>
                <code>{write.jobId}</code>
              </Link>
            ) : (
              <Copy text={write.jobId} />
            )),
          Id: <Copy text={write.id} />,
        }}
      />
      <div className="actions">
        <EqualsApiCall call={outwardCalls.readRejectedWrite(write.id)} />
      </div>
      <h3>What was sent</h3>
      <Payload write={write} faults={faults} />
    </>
  );
}

/** It may hold anything of a person, so it is revealed: it is in the state of this panel only, and goes with it. */
function Payload({ write, faults }: { write: RejectedWrite; faults: readonly Fault[] }): React.ReactNode {
  const may = useMay("identifiers:read_value");
  const reveal = useMutation(DashboardService.method.revealRejectedWrite, { gcTime: 0 });
  const paths = useMemo(() => faults.flatMap(({ param }) => param ?? []), [faults]);
  const payload = reveal.data?.write?.payload;
  if (!isKept(write.payloadState)) return <p className="muted">{payloadStates[write.payloadState]}</p>;
  if (!may) {
    return (
      <p className="muted">
        {payloadStates[write.payloadState]} It may hold personal data: only who may reveal identifiers sees it.
      </p>
    );
  }
  return (
    <>
      <p className="help">
        {payloadStates[write.payloadState]} It may hold personal data. The audit records who reveals it.
      </p>
      <div className="actions">
        <button
          type="button"
          className="button"
          disabled={reveal.isPending}
          aria-pressed={reveal.data !== undefined}
          onClick={() =>
            reveal.data ? reveal.reset() : reveal.mutate({ propertyId: write.propertyId, rejectedWriteId: write.id })
          }
        >
          {reveal.data ? "Hide what was sent" : "Reveal what was sent"}
        </button>
      </div>
      <InlineError error={reveal.error} />
      {payload !== undefined && <JsonView text={payload} label="What was sent" at={paths} />}
      {reveal.data && payload === undefined && <p className="muted">It was deleted meanwhile.</p>}
    </>
  );
}
