/** Changes the name and the roles of a member. Says what changes before it is done. */
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { type Member, MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { Dialog } from "../../components/dialog.tsx";
import { InlineError, TextField } from "../../components/field.tsx";
import { Badge } from "../../components/page.tsx";
import { toast } from "../../components/toasts.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { useViewer } from "../../data/viewer.ts";
import { changesOf, type Grant, toGrants } from "./grants.ts";
import { GrantsField } from "./grants-field.tsx";
import { useRereadMembers } from "./reread.ts";

export function ChangeMember({ member, onClose }: { member: Member; onClose: () => void }): React.ReactNode {
  const { properties, member: viewer } = useViewer();
  const before = toGrants(member.grants);
  const [name, setName] = useState(member.name);
  const [grants, setGrants] = useState<readonly Grant[]>(before);
  const reread = useRereadMembers();
  const update = useMutation(MemberService.method.updateMember, {
    onSuccess: () => {
      reread();
      toast(`${member.email} is changed.`);
      onClose();
    },
  });
  const changes = changesOf(before, grants, properties);
  const isSelf = member.id === viewer.id;
  const isRenamed = name !== member.name;
  return (
    <Dialog title={`Change ${member.email}`} onClose={onClose} isSticky>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (update.isPending) return;
          update.mutate({
            memberId: member.id,
            ...(isRenamed && { name }),
            ...(changes.length > 0 && { grants: [...grants] }),
          });
        }}
      >
        <TextField label="Name" required maxLength={255} value={name} onChange={setName} />
        <GrantsField grants={grants} onChange={setGrants} />
        {changes.length > 0 && (
          <div className="changes" role="status">
            <h3>What changes</h3>
            <ul>
              {changes.map(({ place, before: old, after }) => (
                <li key={place}>
                  {place}: <Badge>{old}</Badge> → <Badge tone="accent">{after}</Badge>
                </li>
              ))}
            </ul>
            <p className="help">
              {isSelf
                ? "Your other sessions end. This one goes on, with what your new roles allow."
                : "All her sessions end: she signs in again. If she is no admin of all properties any more, invitations that she made end too."}
            </p>
          </div>
        )}
        {grants.length === 0 && <p className="field-error">A member has at least one role. Remove her instead.</p>}
        <InlineError error={update.error} />
        <footer>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <SubmitButton
            isPending={update.isPending}
            disabled={name.trim() === "" || grants.length === 0 || (changes.length === 0 && !isRenamed)}
          >
            Change
          </SubmitButton>
        </footer>
      </form>
    </Dialog>
  );
}
