/** The secrets of an app. A second one replaces the first without a gap. */
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { type App, type AppSecret, AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import { ConfirmDialog, SecretDialog } from "../../components/dialog.tsx";
import { toast } from "../../components/toasts.tsx";
import { Time } from "../../components/values.tsx";
import { useRereadApps } from "./reread.ts";

const secretsMax = 2;

export function AppSecrets({ app }: { app: App }): React.ReactNode {
  const [asked, setAsked] = useState<AppSecret | "add">();
  const done = (): void => setAsked(undefined);
  const mayRemove = app.secrets.length > 1;
  return (
    <>
      <h3>Secrets</h3>
      <ul className="rows">
        {app.secrets.map((secret) => (
          <li key={secret.id}>
            <span>
              <code>{secret.displayPrefix}…</code> <span className="muted">made</span>{" "}
              <Time at={secret.createdAt} focusable />
            </span>
            {mayRemove && (
              <button
                type="button"
                className="button small"
                aria-label={`Remove the secret ${secret.displayPrefix}`}
                onClick={() => setAsked(secret)}
              >
                Remove
              </button>
            )}
          </li>
        ))}
      </ul>
      {mayRemove ? (
        <p className="help">Both are good. Remove the old one when the partner uses the new one.</p>
      ) : (
        <p className="help">To replace it, add another, give it to the partner, and remove the old one then.</p>
      )}
      {app.secrets.length < secretsMax && (
        <div className="actions">
          <button type="button" className="button" onClick={() => setAsked("add")}>
            Add a secret
          </button>
        </div>
      )}
      {asked === "add" && <AddSecret app={app} onClose={done} />}
      {asked !== undefined && asked !== "add" && <RemoveSecret app={app} secret={asked} onClose={done} />}
    </>
  );
}

function AddSecret({ app, onClose }: { app: App; onClose: () => void }): React.ReactNode {
  const add = useMutation(AppService.method.addAppSecret, { onSuccess: useRereadApps(), gcTime: 0 });
  if (add.data) {
    return (
      <SecretDialog title={`New secret of ${app.name}`} secret={add.data.secret} onClose={onClose}>
        <p>The one before goes on beside it, until you remove it.</p>
      </SecretDialog>
    );
  }
  return (
    <ConfirmDialog
      title={`Add a secret to ${app.name}?`}
      action="Add the secret"
      isPending={add.isPending}
      error={add.error}
      onConfirm={() => add.mutate({ appId: app.id })}
      onClose={onClose}
    >
      <p>A second secret is made and shown once. Both are good until you remove one of them.</p>
    </ConfirmDialog>
  );
}

function RemoveSecret({ app, secret, onClose }: { app: App; secret: AppSecret; onClose: () => void }): React.ReactNode {
  const reread = useRereadApps();
  const remove = useMutation(AppService.method.removeAppSecret, {
    onSuccess: () => {
      reread();
      toast(`The secret ${secret.displayPrefix}… is removed.`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`Remove ${secret.displayPrefix}…?`}
      action="Remove the secret"
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ appId: app.id, secretId: secret.id })}
      onClose={onClose}
    >
      <p>
        A program that still has it can neither install the app nor refresh its tokens, for good: in each property it
        loses its access within the hour. The other secret goes on.
      </p>
    </ConfirmDialog>
  );
}
