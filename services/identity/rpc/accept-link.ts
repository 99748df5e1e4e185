import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  AcceptLinkResponseSchema,
  type AcceptLinkRequest,
  type MemberService,
} from "#proto/daybook/identity/v1/members_pb.ts";
import { withTransaction, type Transaction } from "#shared/database/postgres.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { newUuid, nilUuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import { checkName } from "../domain/names.ts";
import { readNewPassword } from "../domain/password.ts";
import type { MemberContext } from "../members/context.ts";
import { noSuchLink, readTokenHash } from "../members/links.ts";
import { makeRoom, mustHave, prepareRoles, readEmail, toMember } from "../members/members.ts";
import { signalSessionEnding } from "../members/session-ending.ts";
import { beginSession, toSession } from "../members/sessions.ts";
import { findLink, takeLink, type LinkRow } from "../sql/member-links.ts";
import { endOtherSessions } from "../sql/member-sessions.ts";
import {
  findMemberByEmail,
  insertMember,
  lockMember,
  lockMembers,
  setPassword,
  updateMember,
  type MemberRow,
} from "../sql/members.ts";

export function acceptLink(context: MemberContext): ServiceImpl<typeof MemberService>["acceptLink"] {
  const { database, clock, passwords, signals } = context;
  return async (request) => {
    const tokenHash = readTokenHash(request.tokenHash);
    const now = formatMicros(clock.nowMicros());
    // Before any work: only who has a link may have a password derived.
    const [found] = await findLink(database, [tokenHash, now]);
    if (!found) throw noSuchLink();
    const email = emailOf(found, request);
    const [known] = await findMemberByEmail(database, [email]);
    checkNameOf(request, known);
    const read = readNewPassword(request.password, "password");
    if ("error" in read) throw DaybookError.ofFields([read.error]);
    const passwordHash = await passwords.hash(read.password, request.visitor?.address ?? "");

    const { member, session, token } = await withTransaction(database, async (tx) => {
      await lockMembers(tx, []);
      const [link] = await takeLink(tx, [tokenHash, now]);
      if (!link) throw noSuchLink();
      const accepted = await acceptAs(tx, { link, email, passwordHash, now, name: request.name });
      await endOtherSessions(tx, [accepted.id, nilUuid]);
      return { member: accepted, ...(await beginSession(tx, clock, accepted.id, request.visitor)) };
    });
    signalSessionEnding(signals, member.id);
    return create(AcceptLinkResponseSchema, { member: toMember(member), session: toSession(session), token });
  };
}

function emailOf(link: LinkRow, { email: given }: AcceptLinkRequest): string {
  if (link.email === null) return readEmail(given ?? "");
  if (given === undefined || readEmail(given) === link.email) return link.email;
  throw new DaybookError("parameter_conflict", "The invitation is for another email.", { param: "email" });
}

function checkNameOf({ name }: { name?: string | undefined }, known: MemberRow | undefined): void {
  if (!known && name === undefined) {
    throw new DaybookError("parameter_missing", "`name` is required: how others see you.", { param: "name" });
  }
  if (known && name !== undefined) {
    const message = "`name` is not taken for a member who has one. Leave it out.";
    throw new DaybookError("parameter_conflict", message, { param: "name" });
  }
  if (name !== undefined) checkName(name);
}

interface Accepted {
  link: LinkRow;
  email: string;
  name: string | undefined;
  passwordHash: string;
  now: ReturnType<typeof formatMicros>;
}

/** Makes the member of a link, or gives the one whom there is a password. */
async function acceptAs(tx: Transaction, { link, email, name, passwordHash, now }: Accepted): Promise<MemberRow> {
  const grants = JSON.stringify(link.grants);
  const [known] = await findMemberByEmail(tx, [email]);
  // She may have been made or removed since it was asked.
  checkNameOf({ name }, known);
  if (!known) {
    // An invitation to a new password, of a member who was removed since, says no role.
    if (link.grants.length === 0) throw noSuchLink();
    await makeRoom(tx, email);
    return mustHave(await insertMember(tx, [newUuid(), email, name ?? "", passwordHash, null, null, grants, now]));
  }
  await lockMember(tx, [known.id]);
  if (link.grants.length > 0) {
    await prepareRoles(tx, known, link.grants);
    await updateMember(tx, [known.id, null, grants]);
  }
  return mustHave(await setPassword(tx, [known.id, passwordHash]));
}
