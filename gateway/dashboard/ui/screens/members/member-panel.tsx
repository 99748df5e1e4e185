/** One member: who she is, what she may do, and how that ends. */
import { useMutation } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type Member, MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { Copy } from "../../components/copy.tsx";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { Badge, KeyValues } from "../../components/page.tsx";
import { SidePanel } from "../../components/side-panel.tsx";
import { toast } from "../../components/toasts.tsx";
import { Time } from "../../components/values.tsx";
import { placeOf, roleNames } from "../../data/roles.ts";
import { useProperty, useViewer } from "../../data/viewer.ts";
import { ChangeMember } from "./change-member.tsx";
import { LinkDialog } from "./invite-member.tsx";
import { useRereadMembers } from "./reread.ts";

export function MemberPanel({ member, onClose }: { member: Member; onClose: () => void }): React.ReactNode {
  const [asked, setAsked] = useState<"change" | "link" | "remove">();
  const { properties } = useViewer();
  const { id: property } = useProperty();
  const done = (): void => setAsked(undefined);
  return (
    <SidePanel title={member.name} onClose={onClose}>
      <KeyValues
        rows={{
          Email: <Copy text={member.email} />,
          Id: <Copy text={member.id} />,
          "Signs in by": [member.hasPassword && "password", member.issuer].filter(Boolean).join(", "),
          Created: <Time at={member.createdAt} focusable />,
          "Last seen": member.lastSeenAt ? <Time at={member.lastSeenAt} focusable /> : "Never",
          Did: (
            <Link to="/$property/audit" params={{ property }} search={{ in: "all", member: member.id }}>
              Her audit entries
            </Link>
          ),
        }}
      />
      <h3>Roles</h3>
      <ul className="plain">
        {member.grants.map((grant) => (
          <li key={grant.propertyId ?? ""}>
            {placeOf(grant, properties)} <Badge>{roleNames[grant.role]}</Badge>
          </li>
        ))}
      </ul>
      <div className="actions">
        <button type="button" className="button" onClick={() => setAsked("change")}>
          Change
        </button>
        <button type="button" className="button" onClick={() => setAsked("link")}>
          New password
        </button>
        <button type="button" className="button dangerous" onClick={() => setAsked("remove")}>
          Remove
        </button>
      </div>
      {asked === "change" && <ChangeMember member={member} onClose={done} />}
      {asked === "link" && <NewPassword member={member} onClose={done} />}
      {asked === "remove" && <RemoveMember member={member} onClose={done} onRemoved={onClose} />}
    </SidePanel>
  );
}

/** For whoever lost hers: an invitation that leaves the roles as they are. */
function NewPassword({ member, onClose }: { member: Member; onClose: () => void }): React.ReactNode {
  const invite = useMutation(MemberService.method.inviteMember, { onSuccess: useRereadMembers(), gcTime: 0 });
  if (invite.data) return <LinkDialog answer={invite.data} onClose={onClose} />;
  return (
    <ConfirmDialog
      title={`New password for ${member.email}?`}
      action="Make the link"
      isPending={invite.isPending}
      error={invite.error}
      onConfirm={() => invite.mutate({ email: member.email })}
      onClose={onClose}
    >
      <p>
        You get a link with which she chooses a new password. Her roles stay. Until then the old password works; when
        the link is used, all her sessions end.
      </p>
    </ConfirmDialog>
  );
}

function RemoveMember({
  member,
  onClose,
  onRemoved,
}: {
  member: Member;
  onClose: () => void;
  onRemoved: () => void;
}): React.ReactNode {
  const reread = useRereadMembers();
  const { member: viewer } = useViewer();
  const remove = useMutation(MemberService.method.removeMember, {
    onSuccess: () => {
      reread();
      toast(`${member.email} is removed.`);
      onRemoved();
    },
  });
  return (
    <ConfirmDialog
      title={`Remove ${member.email}?`}
      action="Remove the member"
      typed={member.email}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ memberId: member.id })}
      onClose={onClose}
    >
      <p>
        {member.id === viewer.id ? "This is your own account. " : ""}
        Her sessions, and the invitations to her and by her, end at once and for good. Her audit entries and the keys
        that she made stay.
      </p>
    </ConfirmDialog>
  );
}
