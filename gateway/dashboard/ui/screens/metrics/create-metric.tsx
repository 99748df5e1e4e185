/** Makes a metric before its first event. */
import { useMutation } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { Dialog } from "../../components/dialog.tsx";
import { InlineError, TextField } from "../../components/field.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { failureOf } from "../../data/failures.ts";
import { useProperty } from "../../data/viewer.ts";
import { useRereadMetrics } from "./describe-metric.tsx";

export function CreateMetric({ onClose }: { onClose: () => void }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const reread = useRereadMetrics();
  const create = useMutation(MetricService.method.createMetric, {
    onSuccess: ({ metric }) => {
      reread();
      if (metric) {
        void navigate({ to: "/$property/metrics/$metric", params: { property: propertyId, metric: metric.id } });
      }
    },
  });
  const fields = create.error ? failureOf(create.error).fields : undefined;
  const isNamed = fields?.has("name") === true || fields?.has("description") === true;
  const given = description.trim();
  return (
    <Dialog title="Create a metric" onClose={onClose} isSticky>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate({ propertyId, name: name.trim(), ...(given !== "" && { description: given }) });
        }}
      >
        <p>For a type of event that is still to come: its events are counted from the first one on.</p>
        <TextField
          label="Name"
          help="The type of its events, such as loyalty.joined. Underscores become dots."
          required
          maxLength={255}
          autoComplete="off"
          spellCheck={false}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- a dialog has its focus in itself
          autoFocus
          value={name}
          onChange={setName}
          error={fields?.get("name")}
        />
        <TextField
          label="Description"
          help="What its events tell, for people."
          maxLength={1000}
          value={description}
          onChange={setDescription}
          error={fields?.get("description")}
        />
        <InlineError error={isNamed ? undefined : create.error} />
        <footer>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <SubmitButton isPending={create.isPending} disabled={name.trim() === ""}>
            Create the metric
          </SubmitButton>
        </footer>
      </form>
    </Dialog>
  );
}
