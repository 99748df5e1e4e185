/** Cancels and retries a privacy request, and downloads what an access request exports. */
import { useMutation } from "@connectrpc/connect-query";
import { DashboardService } from "#proto/daybook/dashboard/v1/dashboard_pb.ts";
import { type PrivacyRequest, PrivacyService } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { ConfirmDialog, Dialog } from "../../components/dialog.tsx";
import { InlineError } from "../../components/field.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { toast } from "../../components/toasts.tsx";
import { useRereadPrivacy } from "./reread.ts";
import { isErasure, typeOf } from "./states.tsx";

interface Props {
  request: PrivacyRequest;
  onClose: () => void;
}

export function CancelRequest({ request, onClose }: Props): React.ReactNode {
  const reread = useRereadPrivacy();
  const cancel = useMutation(PrivacyService.method.cancelPrivacyRequest, {
    onSuccess: () => {
      reread();
      toast("The request is cancelled.");
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`Cancel the ${typeOf(request).toLowerCase()}?`}
      action="Cancel the request"
      isPending={cancel.isPending}
      error={cancel.error}
      onConfirm={() => cancel.mutate({ propertyId: request.propertyId, privacyRequestId: request.id })}
      onClose={onClose}
    >
      <p>
        Nothing is {isErasure(request) ? "erased" : "exported"}, and the request ends for good. If the person still asks
        for it, create another.
      </p>
    </ConfirmDialog>
  );
}

export function RetryRequest({ request, onClose }: Props): React.ReactNode {
  const reread = useRereadPrivacy();
  const retry = useMutation(PrivacyService.method.retryPrivacyRequest, {
    onSuccess: () => {
      reread();
      toast("The request is carried out again.");
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title="Carry the request out again?"
      action={isErasure(request) ? "Erase for good" : "Export again"}
      isPending={retry.isPending}
      error={retry.error}
      onConfirm={() => retry.mutate({ propertyId: request.propertyId, privacyRequestId: request.id })}
      onClose={onClose}
    >
      <p>
        It begins from the start, for the same person.{" "}
        {isErasure(request) && <strong>What is erased cannot be brought back.</strong>}
      </p>
    </ConfirmDialog>
  );
}

/** The password is asked for first; then the browser reads the stream into a file by itself. */
export function DownloadExport({ request, onClose }: Props): React.ReactNode {
  const prepare = useMutation(DashboardService.method.prepareDownload, {
    gcTime: 0,
    onSuccess: ({ path }) => {
      globalThis.location.assign(path);
      onClose();
    },
  });
  return (
    <Dialog title="Download what is kept of the person" onClose={onClose} isAlert>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          prepare.mutate({ propertyId: request.propertyId, privacyRequestId: request.id });
        }}
      >
        <p>
          The file holds every identifier in full, all attributes and all events of the person. The audit records that
          you downloaded it.
        </p>
        <p>
          It has one JSON object a line. Its last line has counts and a digest of all before it: a file without it was
          cut off.
        </p>
        <InlineError error={prepare.error} />
        <footer>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <SubmitButton isPending={prepare.isPending}>Download</SubmitButton>
        </footer>
      </form>
    </Dialog>
  );
}
