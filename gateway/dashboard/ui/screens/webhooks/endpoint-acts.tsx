/** Rotates the secret of an endpoint, enables, disables and deletes it. */
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { type Endpoint, EndpointStatus, WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { ConfirmDialog, Dialog, SecretDialog } from "../../components/dialog.tsx";
import { InlineError, Select } from "../../components/field.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { toast } from "../../components/toasts.tsx";
import { Time } from "../../components/values.tsx";
import { useRereadWebhooks } from "./reread.ts";
import { Verify } from "./verify.tsx";

interface Props {
  endpoint: Endpoint;
  onClose: () => void;
}

const graces = [
  { value: "0", title: "Not at all: the old secret ends now" },
  { value: "3600", title: "An hour" },
  { value: "86400", title: "A day" },
  { value: "259200", title: "3 days" },
  { value: "604800", title: "A week" },
] as const;

export function RotateSecret({ endpoint, onClose }: Props): React.ReactNode {
  const [grace, setGrace] = useState<(typeof graces)[number]["value"]>("86400");
  const rotate = useMutation(WebhookService.method.rotateEndpointSecret, {
    onSuccess: useRereadWebhooks(),
    gcTime: 0,
  });
  if (rotate.data) {
    const until = rotate.data.endpoint?.previousSecretUntil;
    return (
      <SecretDialog
        title="The new secret of the webhook"
        secret={rotate.data.secret}
        isHashed={false}
        onClose={onClose}
      >
        {until && (
          <p>
            Messages carry the signature of the old one too, until <Time at={until} absolute />.
          </p>
        )}
        <Verify />
      </SecretDialog>
    );
  }
  return (
    <Dialog title="Rotate the secret" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const { propertyId, id: endpointId } = endpoint;
          rotate.mutate({ propertyId, endpointId, graceSeconds: Number(grace) });
        }}
      >
        <p>
          A new secret is made and shown once. Meanwhile each message carries both signatures, so that your server can
          change over without losing one.
        </p>
        <Select label="Both are good for" value={grace} options={graces} onChange={setGrace} />
        <InlineError error={rotate.error} />
        <footer>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <SubmitButton isPending={rotate.isPending}>Make the new secret</SubmitButton>
        </footer>
      </form>
    </Dialog>
  );
}

export function SetStatus({ endpoint, to, onClose }: Props & { to: "enabled" | "disabled" }): React.ReactNode {
  const reread = useRereadWebhooks();
  const isEnabling = to === "enabled";
  const update = useMutation(WebhookService.method.updateEndpoint, {
    onSuccess: () => {
      reread();
      toast(`The webhook is ${to}.`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={isEnabling ? "Enable the webhook?" : "Disable the webhook?"}
      action={isEnabling ? "Enable the webhook" : "Disable the webhook"}
      isPending={update.isPending}
      error={update.error}
      onConfirm={() =>
        update.mutate({
          propertyId: endpoint.propertyId,
          endpointId: endpoint.id,
          status: isEnabling ? EndpointStatus.ENABLED : EndpointStatus.DISABLED,
        })
      }
      onClose={onClose}
    >
      {isEnabling ? (
        <p>
          What happens from now on is sent to <code>{endpoint.url}</code>, and its failures so far are forgotten. A
          replay sends what it missed.
        </p>
      ) : (
        <p>
          Nothing more is sent to <code>{endpoint.url}</code>, and deliveries that wait are cancelled. Once it is
          enabled again, a replay sends what it missed.
        </p>
      )}
    </ConfirmDialog>
  );
}

export function DeleteEndpoint({ endpoint, onDeleted, onClose }: Props & { onDeleted: () => void }): React.ReactNode {
  const reread = useRereadWebhooks();
  const remove = useMutation(WebhookService.method.deleteEndpoint, {
    onSuccess: () => {
      reread();
      toast("The webhook is deleted.");
      onDeleted();
    },
  });
  return (
    <ConfirmDialog
      title="Delete the webhook?"
      action="Delete the webhook"
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ propertyId: endpoint.propertyId, endpointId: endpoint.id })}
      onClose={onClose}
    >
      <p>
        Nothing more is sent to <code>{endpoint.url}</code>. Its secret and the record of its deliveries are deleted,
        for good. The events themselves stay.
      </p>
    </ConfirmDialog>
  );
}
