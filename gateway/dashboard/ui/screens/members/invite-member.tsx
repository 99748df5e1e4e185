/** Invites a person, and shows the link once. */
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { type InviteMemberResponse, MemberService, Role } from "#proto/daybook/identity/v1/members_pb.ts";
import { Dialog, SecretDialog } from "../../components/dialog.tsx";
import { InlineError, TextField } from "../../components/field.tsx";
import { Time } from "../../components/values.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { failureOf } from "../../data/failures.ts";
import { useProperty, useViewer } from "../../data/viewer.ts";
import type { Grant } from "./grants.ts";
import { GrantsField } from "./grants-field.tsx";
import { useRereadMembers } from "./reread.ts";

export function InviteMember({ onClose }: { onClose: () => void }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const [email, setEmail] = useState("");
  const [grants, setGrants] = useState<readonly Grant[]>([{ propertyId, role: Role.VIEWER }]);
  const invite = useMutation(MemberService.method.inviteMember, { onSuccess: useRereadMembers(), gcTime: 0 });
  const emailError = invite.error ? failureOf(invite.error).fields.get("email") : undefined;
  if (invite.data) return <LinkDialog answer={invite.data} onClose={onClose} />;
  return (
    <Dialog title="Invite a person" onClose={onClose} isSticky>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          invite.mutate({ email, grants: [...grants] });
        }}
      >
        <TextField
          label="Email"
          help="The account is hers alone. An earlier invitation of this email ends."
          type="email"
          required
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- a dialog has its focus in itself
          autoFocus
          autoComplete="off"
          value={email}
          onChange={setEmail}
          error={emailError}
        />
        <GrantsField grants={grants} onChange={setGrants} />
        <InlineError error={emailError === undefined ? invite.error : undefined} />
        <footer>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <SubmitButton isPending={invite.isPending} disabled={email.trim() === "" || grants.length === 0}>
            Make the link
          </SubmitButton>
        </footer>
      </form>
    </Dialog>
  );
}

/** Shows the link of an invitation, this once. */
export function LinkDialog({
  answer: { invitation, token },
  onClose,
}: {
  answer: InviteMemberResponse;
  onClose: () => void;
}): React.ReactNode {
  const { apiUrl } = useViewer();
  return (
    <SecretDialog
      title={`Link for ${invitation?.email ?? ""}`}
      secret={`${apiUrl}/dashboard/invitation#${token}`}
      onClose={onClose}
    >
      <p>
        Daybook sends no mail: pass it on to her alone. Whoever opens it first chooses the password. It works once,
        within 24 hours: until <Time at={invitation?.expiresAt} absolute />.
      </p>
    </SecretDialog>
  );
}
