/** Changes an endpoint. */
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { type Endpoint, WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { Dialog } from "../../components/dialog.tsx";
import { InlineError } from "../../components/field.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { toast } from "../../components/toasts.tsx";
import { failureOf } from "../../data/failures.ts";
import { changesOf, type Draft, draftOf, faultsOf, isComplete } from "./draft.ts";
import { EndpointFields } from "./endpoint-fields.tsx";
import { useRereadWebhooks } from "./reread.ts";

export function EditEndpoint({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }): React.ReactNode {
  const [draft, setDraft] = useState<Draft>(() => draftOf(endpoint));
  const reread = useRereadWebhooks();
  const update = useMutation(WebhookService.method.updateEndpoint, {
    // What was sent may have values of headers.
    gcTime: 0,
    onSuccess: () => {
      reread();
      toast("The webhook is changed.");
      onClose();
    },
  });
  const faults = faultsOf(update.error ? failureOf(update.error).fields : new Map());
  const changes = changesOf(endpoint, draft);
  return (
    <Dialog title="Edit the webhook" onClose={onClose} isSticky>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          update.mutate({ propertyId: endpoint.propertyId, endpointId: endpoint.id, ...changes });
        }}
        noValidate
      >
        <EndpointFields draft={draft} faultOf={(field) => faults.get(field)} onChange={setDraft} />
        <InlineError error={faults.size > 0 ? undefined : update.error} />
        <footer>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <SubmitButton isPending={update.isPending} disabled={!isComplete(draft) || Object.keys(changes).length === 0}>
            Save
          </SubmitButton>
        </footer>
      </form>
    </Dialog>
  );
}
