/** The open invitations. Their links are nowhere: they were shown once. */
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { type Invitation, type Member, MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { Section } from "../../components/page.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { toast } from "../../components/toasts.tsx";
import { Time } from "../../components/values.tsx";
import { useViewer } from "../../data/viewer.ts";
import { grantsInShort } from "./grants.ts";
import { useRereadMembers } from "./reread.ts";

export function Invitations({ members }: { members: readonly Member[] }): React.ReactNode {
  const { properties } = useViewer();
  const [asked, setAsked] = useState<Invitation>();
  const list = useQuery(MemberService.method.listInvitations, {});
  const nameOf = (id: string | undefined): string => {
    if (id === undefined) return "The command line";
    return members.find((member) => member.id === id)?.email ?? id;
  };
  const columns: readonly Column<Invitation>[] = [
    { id: "email", title: "Email", cell: ({ email }) => email },
    {
      id: "roles",
      title: "For",
      cell: ({ grants }) => grantsInShort(grants, properties) || "A new password",
    },
    { id: "by", title: "Invited by", cell: ({ invitedBy }) => nameOf(invitedBy), isMinor: true },
    { id: "expires", title: "Ends", cell: ({ expiresAt }) => <Time at={expiresAt} /> },
    {
      id: "revoke",
      title: "Revoke",
      align: "end",
      cell: (invitation) => (
        <button
          type="button"
          className="button small"
          aria-label={`Revoke the invitation of ${invitation.email}`}
          onClick={() => setAsked(invitation)}
        >
          Revoke
        </button>
      ),
    },
  ];
  return (
    <Section title="Open invitations">
      {list.isError ? (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Table
          label="Open invitations"
          columns={columns}
          rows={list.data?.invitations}
          keyOf={({ id }) => id}
          empty={
            <EmptyState title="No open invitations" level={3}>
              <p>Invite a person: her invitation stands here until she accepts it, for at most 24 hours.</p>
            </EmptyState>
          }
        />
      )}
      {asked && <Revoke invitation={asked} onClose={() => setAsked(undefined)} />}
    </Section>
  );
}

function Revoke({ invitation, onClose }: { invitation: Invitation; onClose: () => void }): React.ReactNode {
  const reread = useRereadMembers();
  const revoke = useMutation(MemberService.method.revokeInvitation, {
    onSuccess: () => {
      reread();
      toast(`The invitation of ${invitation.email} is revoked.`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`Revoke the invitation of ${invitation.email}?`}
      action="Revoke the invitation"
      isPending={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate({ invitationId: invitation.id })}
      onClose={onClose}
    >
      <p>Its link opens nothing any more, for good. You can invite her again with a new one.</p>
    </ConfirmDialog>
  );
}
