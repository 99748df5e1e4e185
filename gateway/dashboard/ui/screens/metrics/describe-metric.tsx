/** What a metric is, in words. */
import { createConnectQueryKey, useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Metric, MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { Dialog } from "../../components/dialog.tsx";
import { InlineError, TextField } from "../../components/field.tsx";
import { toast } from "../../components/toasts.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { failureOf } from "../../data/failures.ts";
import { useProperty } from "../../data/viewer.ts";

const descriptionMax = 1000;

/** Reads metrics anew after a change. */
export function useRereadMetrics(): () => void {
  const client = useQueryClient();
  return () => {
    for (const key of [
      createConnectQueryKey({ schema: MetricService.method.listMetrics, cardinality: "infinite" }),
      createConnectQueryKey({ schema: MetricService.method.getMetrics, cardinality: "finite" }),
    ]) {
      void client.invalidateQueries({ queryKey: key });
    }
  };
}

export function DescribeMetric({ metric, onClose }: { metric: Metric; onClose: () => void }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const [description, setDescription] = useState(metric.description ?? "");
  const reread = useRereadMetrics();
  const update = useMutation(MetricService.method.updateMetric, {
    onSuccess: () => {
      reread();
      toast("The description is saved.");
      onClose();
    },
  });
  const fault = update.error ? failureOf(update.error).fields.get("description") : undefined;
  const given = description.trim();
  return (
    <Dialog title="Describe the metric" onClose={onClose} isSticky>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          update.mutate({ propertyId, metricId: metric.id, ...(given !== "" && { description: given }) });
        }}
      >
        <p>
          <code>{metric.name}</code>
        </p>
        <TextField
          label="Description"
          help="What its events tell, for people. Empty takes it away."
          maxLength={descriptionMax}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- a dialog has its focus in itself
          autoFocus
          value={description}
          onChange={setDescription}
          error={fault}
        />
        <InlineError error={fault === undefined ? update.error : undefined} />
        <footer>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <SubmitButton isPending={update.isPending}>Save</SubmitButton>
        </footer>
      </form>
    </Dialog>
  );
}
