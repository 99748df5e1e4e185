/** Makes an app, and shows its secret once. */
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import { Dialog, SecretDialog } from "../../components/dialog.tsx";
import { InlineError } from "../../components/field.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { failureOf } from "../../data/failures.ts";
import { AppFields } from "./app-fields.tsx";
import { type Draft, emptyDraft, faultsOf, isComplete, linesOf, webhookOf } from "./draft.ts";
import { HandOver } from "./hand-over.tsx";
import { useRereadApps } from "./reread.ts";

/** @param onClose with the id of the app that was made, if it was. */
export default function CreateApp({ onClose }: { onClose: (made?: string) => void }): React.ReactNode {
  const [draft, setDraft] = useState<Draft>(emptyDraft);
  const create = useMutation(AppService.method.createApp, { onSuccess: useRereadApps(), gcTime: 0 });
  const faults = faultsOf(create.error ? failureOf(create.error).fields : new Map());

  const app = create.data?.app;
  if (app) {
    const close = (): void => onClose(app.id);
    const title = `App "${app.name}"`;
    if (create.data?.secret !== undefined) {
      return (
        <SecretDialog title={title} secret={create.data.secret} onClose={close}>
          <HandOver appId={app.id} />
        </SecretDialog>
      );
    }
    return (
      <Dialog title={title} onClose={close} isSticky>
        <p>The app is made. It runs at its users, so it has no secret.</p>
        <HandOver appId={app.id} />
        <footer>
          <button type="button" className="button primary" onClick={close}>
            Done
          </button>
        </footer>
      </Dialog>
    );
  }
  return (
    <Dialog title="Create an app" onClose={() => onClose()} isSticky>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const { name, description, type, homepageUrl, redirectUris, scopes } = draft;
          const webhook = webhookOf(draft);
          create.mutate({
            name,
            description,
            type,
            redirectUris: linesOf(redirectUris),
            scopes: [...scopes],
            ...(homepageUrl.trim() !== "" && { homepageUrl: homepageUrl.trim() }),
            ...(webhook.url !== "" && { webhook }),
          });
        }}
        noValidate
      >
        <AppFields draft={draft} isNew faultOf={(field) => faults.get(field)} onChange={setDraft} />
        <InlineError error={faults.size > 0 ? undefined : create.error} />
        <footer>
          <button type="button" className="button" onClick={() => onClose()}>
            Cancel
          </button>
          <SubmitButton isPending={create.isPending} disabled={!isComplete(draft)}>
            Create the app
          </SubmitButton>
        </footer>
      </form>
    </Dialog>
  );
}
