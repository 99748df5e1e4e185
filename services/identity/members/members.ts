/** Members: what is checked of them, and how they are shown. */
import { create } from "@bufbuild/protobuf";
import { MemberSchema, type Member } from "#proto/daybook/identity/v1/members_pb.ts";
import type { Transaction } from "#shared/database/postgres.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { encodeId } from "#shared/values/ids.ts";
import { readValue } from "#shared/values/identifiers.ts";
import { toTimestamp } from "#shared/values/time.ts";
import { hasEverywhere, type Grant } from "../domain/roles.ts";
import { endInvitationsBy, endInvitationsTo, endSetupLinks } from "../sql/member-links.ts";
import { countMembers, findOtherAdmin, type MemberRow } from "../sql/members.ts";
import { toRoleGrant } from "./grants.ts";

/** The most members. */
export const membersMax = 10_000;

/**
 * Normalises an email as identifiers are.
 * @throws DaybookError `parameter_invalid`
 */
export function readEmail(text: string): string {
  const read = readValue("email", text, "email");
  if ("error" in read) throw DaybookError.ofFields([read.error]);
  return read.value;
}

/** An email in normal form; undefined when it is none, so that nobody has it. */
export function normalEmail(text: string): string | undefined {
  const read = readValue("email", text, "email");
  return "error" in read ? undefined : read.value;
}

/** Prepares for a new member in a transaction that holds the lock of all. Ends what would make her again. */
export async function makeRoom(tx: Transaction, email: string): Promise<void> {
  const [members] = await countMembers(tx, []);
  if ((members?.count ?? 0) >= membersMax) {
    throw new DaybookError("too_many_items", `There are at most ${membersMax} members.`);
  }
  await endSetupLinks(tx, []);
  await endInvitationsTo(tx, [email]);
}

/**
 * Prepares new roles of a member, or her removal, in a transaction that holds the lock of all members. If she will be
 * no admin of all properties, the invitations that she made end: one that she made for herself would let her back in.
 * @param grants those that she will have; empty when she goes.
 * @throws DaybookError `invalid_state_transition` when no admin of all properties would be left.
 */
export async function prepareRoles(tx: Transaction, member: MemberRow, grants: readonly Grant[]): Promise<void> {
  if (hasEverywhere(grants, "members:manage")) return;
  if (member.is_admin) await checkOtherAdmin(tx, member);
  await endInvitationsBy(tx, [member.id]);
}

async function checkOtherAdmin(tx: Transaction, member: MemberRow): Promise<void> {
  const [other] = await findOtherAdmin(tx, [member.id]);
  if (other) return;
  const message = "No admin of all properties would be left. Make somebody else an admin first.";
  throw new DaybookError("invalid_state_transition", message, { param: "member_id" });
}

export function toMember(row: MemberRow): Member {
  return create(MemberSchema, {
    id: encodeId("mem", row.id),
    email: row.email,
    name: row.name,
    grants: row.grants.map(toRoleGrant),
    createdAt: toTimestamp(row.created_at),
    lastSeenAt: toTimestamp(row.last_seen_at),
    hasPassword: row.password_hash !== null,
    issuer: row.issuer ?? undefined,
  });
}

export function noSuchMember(param = "member_id"): DaybookError {
  return new DaybookError("resource_not_found", "There is no such member.", { param });
}

/** The row that a statement must give. */
export function mustHave<Row>([row]: Row[]): Row {
  if (!row) throw new Error("the statement gave no row");
  return row;
}
