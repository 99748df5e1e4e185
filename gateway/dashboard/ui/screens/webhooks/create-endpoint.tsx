/** Makes an endpoint, and shows its secret once. */
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { Dialog, SecretDialog } from "../../components/dialog.tsx";
import { InlineError } from "../../components/field.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { failureOf } from "../../data/failures.ts";
import { useProperty, useRights } from "../../data/viewer.ts";
import { type Draft, emptyDraft, faultsOf, isComplete, newEndpoint } from "./draft.ts";
import { EndpointFields } from "./endpoint-fields.tsx";
import { useRereadWebhooks } from "./reread.ts";
import { mayChoose } from "./types.ts";
import { Verify } from "./verify.tsx";

/** @param onClose with the id of the endpoint that was made, if it was. */
export default function CreateEndpoint({ onClose }: { onClose: (made?: string) => void }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const rights = useRights();
  const [draft, setDraft] = useState<Draft>(() => ({
    ...emptyDraft,
    types: new Set([...emptyDraft.types].filter((type) => mayChoose(type, rights))),
  }));
  const create = useMutation(WebhookService.method.createEndpoint, { onSuccess: useRereadWebhooks(), gcTime: 0 });
  const faults = faultsOf(create.error ? failureOf(create.error).fields : new Map());

  if (create.data) {
    const close = (): void => onClose(create.data.endpoint?.id);
    return (
      <SecretDialog title="The secret of the webhook" secret={create.data.secret} isHashed={false} onClose={close}>
        <Verify />
      </SecretDialog>
    );
  }
  return (
    <Dialog title="Create a webhook" onClose={() => onClose()} isSticky>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate({ propertyId, ...newEndpoint(draft) });
        }}
        noValidate
      >
        <EndpointFields draft={draft} faultOf={(field) => faults.get(field)} onChange={setDraft} />
        <InlineError error={faults.size > 0 ? undefined : create.error} />
        <footer>
          <button type="button" className="button" onClick={() => onClose()}>
            Cancel
          </button>
          <SubmitButton isPending={create.isPending} disabled={!isComplete(draft)}>
            Create the webhook
          </SubmitButton>
        </footer>
      </form>
    </Dialog>
  );
}
