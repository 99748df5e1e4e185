/** Changes an app. */
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { type App, AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import { Dialog } from "../../components/dialog.tsx";
import { InlineError } from "../../components/field.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { toast } from "../../components/toasts.tsx";
import { failureOf } from "../../data/failures.ts";
import { AppFields } from "./app-fields.tsx";
import { changesOf, type Draft, draftOf, faultsOf, isComplete } from "./draft.ts";
import { useRereadApps } from "./reread.ts";

export function EditApp({ app, onClose }: { app: App; onClose: () => void }): React.ReactNode {
  const [draft, setDraft] = useState<Draft>(() => draftOf(app));
  const reread = useRereadApps();
  const update = useMutation(AppService.method.updateApp, {
    onSuccess: () => {
      reread();
      toast(`${draft.name} is changed.`);
      onClose();
    },
  });
  const faults = faultsOf(update.error ? failureOf(update.error).fields : new Map());
  const changes = changesOf(app, draft);
  return (
    <Dialog title={`Edit ${app.name}`} onClose={onClose} isSticky>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          update.mutate({ appId: app.id, ...changes });
        }}
        noValidate
      >
        <AppFields draft={draft} isNew={false} faultOf={(field) => faults.get(field)} onChange={setDraft} />
        {"scopes" in changes && (
          <p className="help" role="status">
            Where the app is installed it keeps the scopes that it has, until somebody consents anew.
          </p>
        )}
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
