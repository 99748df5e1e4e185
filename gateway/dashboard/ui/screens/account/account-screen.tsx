/** Account: oneself, one's password and sessions, and how the dashboard looks. */
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { DashboardService } from "#proto/daybook/dashboard/v1/dashboard_pb.ts";
import { MemberService, type Session } from "#proto/daybook/identity/v1/members_pb.ts";
import { Segments } from "../../components/field.tsx";
import { Badge, KeyValues, PageHeader, Section } from "../../components/page.tsx";
import { ErrorState } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { toast } from "../../components/toasts.tsx";
import { Time } from "../../components/values.tsx";
import { placeOf, roleNames } from "../../data/roles.ts";
import { setTheme, useTheme } from "../../data/theme.ts";
import { leaveForSignIn } from "../../data/transport.ts";
import { useViewer } from "../../data/viewer.ts";
import { browserName } from "./browser-name.ts";
import { ChangePassword } from "./change-password.tsx";

export function AccountScreen(): React.ReactNode {
  const { member, properties } = useViewer();
  const signOut = useMutation(DashboardService.method.signOut, { onSuccess: leaveForSignIn });
  return (
    <div className="screen">
      <PageHeader
        title="Account"
        actions={
          <button type="button" className="button" disabled={signOut.isPending} onClick={() => signOut.mutate({})}>
            Sign out
          </button>
        }
      />
      <Section title="You">
        <KeyValues
          rows={{
            Name: member.name,
            Email: member.email,
            "Signs in by": member.issuer ?? "Password",
            Roles: (
              <ul className="plain">
                {member.grants.map((grant) => (
                  <li key={grant.propertyId ?? ""}>
                    {placeOf(grant, properties)} <Badge>{roleNames[grant.role]}</Badge>
                  </li>
                ))}
              </ul>
            ),
          }}
        />
      </Section>
      <Look />
      {member.hasPassword && <ChangePassword />}
      <Sessions />
    </div>
  );
}

function Look(): React.ReactNode {
  const theme = useTheme();
  return (
    <Section title="Look">
      <Segments
        label="Theme"
        value={theme}
        options={[
          { value: "system", title: "As the system" },
          { value: "light", title: "Light" },
          { value: "dark", title: "Dark" },
        ]}
        onChange={setTheme}
      />
    </Section>
  );
}

function Sessions(): React.ReactNode {
  const { member, session: own } = useViewer();
  const list = useQuery(MemberService.method.listSessions, { memberId: member.id });
  const end = useMutation(MemberService.method.endSession, {
    onSuccess: ({ ended }) => {
      toast(ended === 1 ? "The session ended." : `${ended} sessions ended.`);
      void list.refetch();
    },
  });
  const columns: readonly Column<Session>[] = [
    {
      id: "browser",
      title: "Browser",
      cell: ({ id, userAgent }) => (
        <span title={userAgent}>
          {browserName(userAgent)} {id === own.id && <Badge tone="accent">This one</Badge>}
        </span>
      ),
    },
    { id: "address", title: "Address", cell: ({ address }) => <code>{address}</code> },
    { id: "used", title: "Last used", cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    { id: "created", title: "Began", cell: ({ createdAt }) => <Time at={createdAt} />, isMinor: true },
    {
      id: "end",
      title: "End",
      align: "end",
      cell: ({ id, userAgent }) =>
        id !== own.id && (
          <button
            type="button"
            className="button small"
            aria-label={`End the session in ${browserName(userAgent)}`}
            disabled={end.isPending}
            onClick={() => end.mutate({ memberId: member.id, which: { case: "sessionId", value: id } })}
          >
            End
          </button>
        ),
    },
  ];
  const error = list.error ?? end.error;
  return (
    <Section
      title="Sessions"
      actions={
        (list.data?.sessions.length ?? 0) > 1 && (
          <button
            type="button"
            className="button small"
            disabled={end.isPending}
            onClick={() => end.mutate({ memberId: member.id, which: { case: "allButSessionId", value: own.id } })}
          >
            End all others
          </button>
        )
      }
    >
      {error && <ErrorState error={error} onRetry={() => void list.refetch()} />}
      {!list.isError && (
        <Table label="Sessions" columns={columns} rows={list.data?.sessions} keyOf={({ id }) => id} empty={null} />
      )}
    </Section>
  );
}
