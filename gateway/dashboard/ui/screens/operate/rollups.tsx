/** Roll-ups of metrics: whether they are being counted anew, and doing so. */
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import type { Property } from "#proto/daybook/identity/v1/identity_pb.ts";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { Select } from "../../components/field.tsx";
import { Badge, KeyValues, Section } from "../../components/page.tsx";
import { ErrorState } from "../../components/states.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { toast } from "../../components/toasts.tsx";
import { Count } from "../../components/values.tsx";
import { titleOf, useProperty, useViewer } from "../../data/viewer.ts";
import { Advice } from "./prometheus.tsx";
import { rereadMs } from "./use-bus.ts";

export function Rollups(): React.ReactNode {
  const { properties } = useViewer();
  const current = useProperty();
  const [chosen, setChosen] = useState(current.id);
  const [isAsked, setAsked] = useState(false);
  const state = useQuery(MetricService.method.describeRollups, {}, { refetchInterval: rereadMs, staleTime: 0 });
  const property = properties.find(({ id }) => id === chosen) ?? current;
  const building = state.data?.propertiesBuilding ?? 0;
  return (
    <Section title="Roll-ups of metrics">
      {state.isError && <ErrorState error={state.error} onRetry={() => void state.refetch()} />}
      {state.isPending && <Skeleton lines={2} />}
      {state.data && (
        <KeyValues
          rows={{
            State:
              building > 0 ? <Badge tone="accent">Counting anew</Badge> : <Badge tone="good">Nothing to count</Badge>,
            Properties: <Count value={building} />,
            "Events counted": building > 0 && <Count value={state.data.eventsCounted} />,
          }}
        />
      )}
      {building > 0 && (
        <Advice see="rollups">
          What is shown stays as it was until all events of a property are counted. Recording and answers go on.
        </Advice>
      )}
      <div className="rebuild">
        <Select
          label="Property"
          value={property.id}
          options={properties.map((each) => ({ value: each.id, title: titleOf(each) }))}
          onChange={setChosen}
        />
        <button type="button" className="button" onClick={() => setAsked(true)}>
          Count anew
        </button>
      </div>
      <p className="muted">
        Progress is not in Prometheus. On the command line: <code>daybook metrics rebuild</code>
      </p>
      {isAsked && (
        <Rebuild property={property} onClose={() => setAsked(false)} onStarted={() => void state.refetch()} />
      )}
    </Section>
  );
}

function Rebuild({
  property,
  onStarted,
  onClose,
}: {
  property: Property;
  onStarted: () => void;
  onClose: () => void;
}): React.ReactNode {
  const rebuild = useMutation(MetricService.method.rebuildRollups, {
    onSuccess: () => {
      onStarted();
      toast(`The events of ${property.name} are being counted anew.`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`Count all events of ${property.name} anew?`}
      action="Count anew"
      isPending={rebuild.isPending}
      error={rebuild.error}
      onConfirm={() => rebuild.mutate({ propertyId: property.id })}
      onClose={onClose}
    >
      <p>
        Every stored event is read again, which takes time and the disk of PostgreSQL. The result replaces what is shown
        when it is complete. If it is under way already, it begins from the start.
      </p>
    </ConfirmDialog>
  );
}
