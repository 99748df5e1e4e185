/** One group of rejected writes: how often, since when, and samples. */
import { createQueryOptions, useTransport } from "@connectrpc/connect-query";
import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { RejectedWriteService, type RejectedWriteGroup } from "#proto/daybook/event/v1/rejected_pb.ts";
import { KeyValues } from "../../components/page.tsx";
import { SidePanel } from "../../components/side-panel.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { Count, Time } from "../../components/values.tsx";
import { useProperty } from "../../data/viewer.ts";
import { Caller } from "./caller.tsx";
import { CodeLink } from "./code-link.tsx";
import { filterOf } from "./filter.ts";
import { Severity, severityAdvice } from "./states.tsx";

export function GroupPanel({ group, onClose }: { group: RejectedWriteGroup; onClose: () => void }): React.ReactNode {
  const { id: property } = useProperty();
  return (
    <SidePanel title={<code>{group.code}</code>} onClose={onClose}>
      <p className="help">{severityAdvice[group.severity]}</p>
      <KeyValues
        rows={{
          "How bad": <Severity of={group.severity} />,
          Times: <Count value={group.count} />,
          Code: <CodeLink code={group.code} />,
          Field: group.param !== undefined && <code>{group.param}</code>,
          Operation: <code>{group.operation}</code>,
          "Event type": group.eventType !== undefined && <code>{group.eventType}</code>,
          "Sent by": <Caller id={group.keyId} name={group.keyName} />,
          First: <Time at={group.firstAt} focusable />,
          Last: <Time at={group.lastAt} focusable />,
        }}
      />
      <div className="actions">
        <Link
          to="/$property/rejected"
          params={{ property }}
          search={(before) => ({ ...before, ...filterOf(group), group: undefined, show: "writes" as const })}
          className="button"
        >
          Show the writes
        </Link>
      </div>
      <h3>The last of them</h3>
      <Samples ids={group.sampleIds} />
    </SidePanel>
  );
}

function Samples({ ids }: { ids: readonly string[] }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const transport = useTransport();
  const answers = useQueries({
    queries: ids.map((rejectedWriteId) =>
      createQueryOptions(RejectedWriteService.method.getRejectedWrite, { propertyId, rejectedWriteId }, { transport }),
    ),
  });
  if (ids.length === 0) return <p className="muted">None is kept one by one: entries are deleted after 30 days.</p>;
  if (answers.some(({ isPending }) => isPending)) return <Skeleton lines={3} />;
  return (
    <ul className="samples">
      {answers.map(
        ({ data }) =>
          data?.write && (
            <li key={data.write.id}>
              <Link
                to="/$property/rejected"
                params={{ property: propertyId }}
                search={(before) => ({ ...before, group: undefined, show: "writes" as const, write: data.write?.id })}
              >
                <Time at={data.write.rejectedAt} />
              </Link>{" "}
              {data.write.error?.message}
            </li>
          ),
      )}
    </ul>
  );
}
