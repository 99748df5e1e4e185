/** Members: the people who may open the dashboard, and what each may do. */
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { getRouteApi } from "@tanstack/react-router";
import { type Member, MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { Icon } from "../../components/icon.tsx";
import { Badge, PageHeader } from "../../components/page.tsx";
import { WithPanel } from "../../components/side-panel.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { type Column, LoadMore, Table } from "../../components/table.tsx";
import { Time } from "../../components/values.tsx";
import { firstPage } from "../../data/pages.ts";
import { useMayEverywhere, useViewer } from "../../data/viewer.ts";
import "../../styles/team.css";
import { grantsInShort } from "./grants.ts";
import { Invitations } from "./invitations.tsx";
import { InviteMember } from "./invite-member.tsx";
import { MemberPanel } from "./member-panel.tsx";
import { RoleTable } from "./role-table.tsx";

const route = getRouteApi("/$property/members");
const pageSize = 100;

export function MembersScreen(): React.ReactNode {
  const mayManage = useMayEverywhere("members:manage");
  return <div className="screen">{mayManage ? <Members /> : <NotAllowed />}</div>;
}

function NotAllowed(): React.ReactNode {
  return (
    <>
      <PageHeader title="Members" />
      <EmptyState title="Only admins of all properties manage members">
        <p>A member may work in several properties, so an admin of one does not decide alone. Ask an admin of all.</p>
      </EmptyState>
    </>
  );
}

function Members(): React.ReactNode {
  const { properties, member: viewer } = useViewer();
  const { member: openId, invite } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(
    MemberService.method.listMembers,
    { limit: pageSize, afterMemberId: firstPage },
    {
      pageParamKey: "afterMemberId",
      getNextPageParam: ({ members, hasMore }) => (hasMore ? members.at(-1)?.id : undefined),
    },
  );
  const rows = list.data?.pages.flatMap(({ members }) => members);
  const open = rows?.find(({ id }) => id === openId);
  const set = (next: { member?: string; invite?: "yes" }): void => void navigate({ search: next });
  const columns: readonly Column<Member>[] = [
    { id: "name", title: "Name", cell: ({ name }) => name },
    {
      id: "email",
      title: "Email",
      cell: ({ email, id }) => (
        <span>
          {email} {id === viewer.id && <Badge tone="accent">You</Badge>}
        </span>
      ),
    },
    { id: "roles", title: "Roles", cell: ({ grants }) => grantsInShort(grants, properties) },
    {
      id: "seen",
      title: "Last seen",
      cell: ({ lastSeenAt }) => (lastSeenAt ? <Time at={lastSeenAt} /> : <span className="muted">Never</span>),
    },
    { id: "created", title: "Created", cell: ({ createdAt }) => <Time at={createdAt} />, isMinor: true },
  ];
  return (
    <>
      <PageHeader
        title="Members"
        actions={
          <button type="button" className="button primary" onClick={() => set({ invite: "yes" })}>
            <Icon name="plus" />
            Invite a person
          </button>
        }
      >
        People who may open the dashboard, in this property or another. On the command line:{" "}
        <code>daybook members list</code>
      </PageHeader>
      <WithPanel panel={open && <MemberPanel key={open.id} member={open} onClose={() => set({})} />}>
        {list.isError ? (
          <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        ) : (
          <Table
            label="Members"
            columns={columns}
            rows={rows}
            keyOf={({ id }) => id}
            openKey={open?.id}
            onOpen={({ id }) => set({ member: id })}
            empty={null}
          />
        )}
        <LoadMore
          hasMore={list.hasNextPage}
          isLoading={list.isFetchingNextPage}
          onMore={() => void list.fetchNextPage()}
        />
      </WithPanel>
      <p className="muted">Somebody lost her password? Open her row, and make a link for a new one. Her roles stay.</p>
      <Invitations members={rows ?? []} />
      <RoleTable />
      {invite === "yes" && <InviteMember onClose={() => set({})} />}
    </>
  );
}
