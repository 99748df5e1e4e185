/** Each process: whether it can work, which version it is, and since when it runs. */
import { useQuery } from "@connectrpc/connect-query";
import { DashboardService, type Process } from "#proto/daybook/dashboard/v1/dashboard_pb.ts";
import { Copy } from "../../components/copy.tsx";
import { Badge, Section } from "../../components/page.tsx";
import { ErrorState } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Time } from "../../components/values.tsx";
import { Advice, InPrometheus } from "./prometheus.tsx";
import { rereadMs } from "./use-bus.ts";

const columns: readonly Column<Process>[] = [
  { id: "name", title: "Process", cell: ({ name }) => name },
  {
    id: "ready",
    title: "State",
    cell: ({ ready, reason }) =>
      ready ? (
        <Badge tone="good">Ready</Badge>
      ) : (
        <span>
          <Badge tone="bad">Not ready</Badge> {reason}
        </span>
      ),
  },
  { id: "version", title: "Version", cell: ({ version }) => version },
  { id: "started", title: "Started", cell: ({ startedAt }) => <Time at={startedAt} /> },
  {
    id: "address",
    title: "Address",
    cell: ({ address }) => (address === undefined ? "In the gateway's process" : <code>{address}</code>),
    isMinor: true,
  },
  {
    id: "instance",
    title: "Instance",
    cell: ({ instanceId }) => instanceId !== undefined && <Copy text={instanceId} short />,
    isMinor: true,
  },
];

export function Processes(): React.ReactNode {
  const list = useQuery(DashboardService.method.describeProcesses, {}, { refetchInterval: rereadMs, staleTime: 0 });
  const processes = list.data?.processes;
  const away = processes?.filter(({ ready }) => !ready) ?? [];
  const versions = new Set(processes?.flatMap(({ version }) => version ?? []));
  return (
    <Section title="Processes">
      {away.length > 0 && (
        <Advice see="process" tone="bad">
          {away.map(({ name }) => name).join(", ")} cannot work now. Read the last lines of its log, and start it again.
        </Advice>
      )}
      {versions.size > 1 && (
        <Advice see="versions">Processes run different versions. That is right only while you replace them.</Advice>
      )}
      {list.isError ? (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Table
          label="Processes"
          columns={columns}
          rows={processes}
          keyOf={({ name, address, instanceId }) => `${name} ${address ?? ""} ${instanceId ?? ""}`}
          empty={null}
        />
      )}
      <InPrometheus names={["ready", "version", "started"]} />
    </Section>
  );
}
