/** Commands for members of the dashboard. Each that changes something leaves an entry in the audit. */
import {
  MemberService,
  Role,
  type AuditEntry,
  type Invitation,
  type Member,
  type RoleGrant,
} from "#proto/daybook/identity/v1/members_pb.ts";
import { formatTimestamp } from "#shared/values/time.ts";
import { audit } from "../audit.ts";
import { readAll, required, type Arguments, type Command, type OperatorServices, type Result } from "../command.ts";
import { UsageError } from "../usage.ts";

const { method } = MemberService;
const pageItems = 500;
const auditItems = 100;

const roles = {
  admin: Role.ADMIN,
  developer: Role.DEVELOPER,
  support: Role.SUPPORT,
  viewer: Role.VIEWER,
} as const;

export const memberCommands: readonly Command[] = [
  {
    name: "members setup",
    usage: "",
    summary: "makes the link by which the first member makes her account, an admin; it works once, for an hour",
    words: [0, 0],
    options: [],
    async run(services) {
      const { token, expiresAt } = await services.members.createSetupLink({});
      await audit(services, method.createSetupLink, {});
      return showLink(services, "setup", token, { expires_at: timeOf(expiresAt) });
    },
  },
  {
    name: "members invite",
    usage: "<email>",
    summary:
      "makes the link by which a member makes her account, or replaces a lost password; it works once, for a day",
    words: [1, 1],
    options: [],
    optional: ["role", "property"],
    async run(services, { words: [email = ""], options }) {
      const answer = await services.members.inviteMember({ email, grants: readGrants(options) });
      const invitation = required(answer.invitation);
      await audit(services, method.inviteMember, { targetIds: [invitation.id], ...propertyOf(options) });
      return showLink(services, "invitation", answer.token, showInvitation(invitation));
    },
  },
  {
    name: "members list",
    usage: "",
    summary: "the members with their roles, and when each was last seen",
    words: [0, 0],
    options: [],
    async run({ members }) {
      const all = await readAll<Member>(async (last) => {
        const page = await members.listMembers({ limit: pageItems, ...(last && { afterMemberId: last.id }) });
        return { items: page.members, hasMore: page.hasMore };
      });
      const shown = all.map(showMember);
      return { text: shown.map(memberLine).join("\n"), json: shown };
    },
  },
  {
    name: "members invitations",
    usage: "",
    summary: "the invitations that were not accepted yet; their links are kept nowhere",
    words: [0, 0],
    options: [],
    async run({ members }) {
      const { invitations } = await members.listInvitations({});
      const shown = invitations.map(showInvitation);
      return { text: shown.map(invitationLine).join("\n"), json: shown };
    },
  },
  {
    name: "members revoke",
    usage: "<invitation id>",
    summary: "ends an invitation",
    words: [1, 1],
    options: [],
    async run(services, { words: [invitationId = ""] }) {
      await services.members.revokeInvitation({ invitationId });
      await audit(services, method.revokeInvitation, { targetIds: [invitationId.toLowerCase()] });
      return { text: `${invitationId} is revoked.`, json: { id: invitationId } };
    },
  },
  {
    name: "members update",
    usage: "<member id>",
    summary: "replaces the roles of a member, and ends her sessions",
    words: [1, 1],
    options: ["role"],
    optional: ["property"],
    async run(services, { words: [memberId = ""], options }) {
      const { member } = await services.members.updateMember({ memberId, grants: readGrants(options) });
      await audit(services, method.updateMember, { targetIds: [memberId.toLowerCase()], ...propertyOf(options) });
      const shown = showMember(required(member));
      return { text: memberLine(shown), json: shown };
    },
  },
  {
    name: "members remove",
    usage: "<member id>",
    summary: "ends a member with her sessions and invitations",
    words: [1, 1],
    options: [],
    isIrreversible: true,
    async run(services, { words: [memberId = ""] }) {
      await services.members.removeMember({ memberId });
      await audit(services, method.removeMember, { targetIds: [memberId.toLowerCase()] });
      return { text: `${memberId} is removed.`, json: { id: memberId } };
    },
  },
  {
    name: "members audit",
    usage: "",
    summary: `who did what, the newest ${auditItems}`,
    words: [0, 0],
    options: [],
    optional: ["property"],
    async run({ members }, { options: { property: propertyId } }) {
      const { entries } = await members.listAudit({ limit: auditItems, propertyId });
      const shown = entries.map(showEntry);
      return { text: shown.map(entryLine).join("\n"), json: shown };
    },
  },
];

/** The token is in the fragment, which browsers send nowhere. */
function showLink({ publicUrl }: OperatorServices, page: string, token: string, about: object): Result {
  const path = `/dashboard/${page}#${token}`;
  const url = publicUrl === undefined ? null : `${publicUrl}${path}`;
  const note = "Open this path at the address of your gateway. PUBLIC_URL makes it a link.";
  return {
    text: `${url ?? `${path}\n${note}`}\nIt works once, and is shown this once.`,
    json: { ...about, path, url },
  };
}

function readGrants({ role, property }: Arguments["options"]): { role: Role; propertyId?: string }[] {
  if (role === undefined) {
    if (property !== undefined) throw new UsageError("--property needs a --role.");
    return [];
  }
  if (!Object.hasOwn(roles, role)) throw new UsageError(`--role is one of ${Object.keys(roles).join(", ")}.`);
  return [{ role: roles[role as keyof typeof roles], ...propertyOf({ property }) }];
}

function propertyOf({ property }: Arguments["options"]): { propertyId?: string } {
  return property === undefined ? {} : { propertyId: property };
}

function timeOf(time: Member["createdAt"]): string | null {
  return time ? formatTimestamp(time) : null;
}

function showGrants(grants: readonly RoleGrant[]) {
  return grants.map(({ propertyId, role }) => ({
    role: Object.entries(roles).find(([, known]) => known === role)?.[0] ?? "unknown",
    property_id: propertyId ?? null,
  }));
}

function grantsText(grants: ReturnType<typeof showGrants>): string {
  return grants.map(({ role, property_id: id }) => (id === null ? role : `${role} of ${id}`)).join(", ");
}

function showMember(member: Member) {
  return {
    id: member.id,
    email: member.email,
    name: member.name,
    grants: showGrants(member.grants),
    has_password: member.hasPassword,
    issuer: member.issuer ?? null,
    created_at: timeOf(member.createdAt),
    last_seen_at: timeOf(member.lastSeenAt),
  };
}

function memberLine({ id, email, name, grants, last_seen_at: seen }: ReturnType<typeof showMember>): string {
  return [id, email, name, grantsText(grants), seen === null ? "never seen" : `seen ${seen}`].join("  ");
}

function showInvitation(invitation: Invitation) {
  return {
    id: invitation.id,
    email: invitation.email,
    grants: showGrants(invitation.grants),
    invited_by: invitation.invitedBy ?? null,
    expires_at: timeOf(invitation.expiresAt),
  };
}

function invitationLine({ id, email, grants, expires_at: expires }: ReturnType<typeof showInvitation>): string {
  const what = grants.length === 0 ? "a new password" : grantsText(grants);
  return [id, email, what, `ends ${expires}`].join("  ");
}

function showEntry(entry: AuditEntry) {
  return {
    id: entry.id,
    at: timeOf(entry.at),
    member_id: entry.memberId ?? null,
    member_email: entry.memberEmail ?? null,
    actor_id: entry.actorId ?? null,
    property_id: entry.propertyId ?? null,
    action: entry.action,
    target_ids: entry.targetIds,
    address: entry.address,
    request_id: entry.requestId,
    succeeded: entry.succeeded,
  };
}

function entryLine(entry: ReturnType<typeof showEntry>): string {
  const { at, member_email: email, member_id: member, actor_id: actor, action, target_ids: targets, succeeded } = entry;
  return [at, email ?? member ?? actor ?? "operator", action, ...targets, ...(succeeded ? [] : ["refused"])].join("  ");
}
