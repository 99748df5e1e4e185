/** Members of the dashboard for tests. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { hash, randomUUID } from "node:crypto";
import { Role, type RoleGrantSchema } from "#proto/daybook/identity/v1/members_pb.ts";
import { testCall, type TestDaybook } from "./daybook.ts";

/** Of every member of the tests. */
export const password = "correct horse battery staple";

export interface TestMember {
  memberId: string;
  email: string;
  /** Of a session that has just begun. */
  token: string;
  /** Of the session, as a browser over plain HTTP on this computer has it. */
  cookie: { name: string; value: string; url: string };
}

/** Makes a member by an invitation, and signs her in. @param grants by default she is an admin of all properties. */
export async function newMember(
  { clients: { members }, baseUrl }: TestDaybook,
  grants: MessageInitShape<typeof RoleGrantSchema>[] = [{ role: Role.ADMIN }],
): Promise<TestMember> {
  const email = `member-${randomUUID()}@example.com`;
  const invitation = await members.inviteMember({ email, grants }, testCall);
  const tokenHash = hash("sha256", invitation.token, "buffer");
  const visitor = { address: "127.0.0.1", userAgent: "test" };
  const { token, member } = await members.acceptLink({ tokenHash, name: "Ada Lovelace", password, visitor }, testCall);
  return {
    memberId: member?.id ?? "",
    email,
    token,
    cookie: { name: `daybook-${new URL(baseUrl).port}`, value: token, url: baseUrl },
  };
}
