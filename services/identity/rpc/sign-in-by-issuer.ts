import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  SignInByIssuerResponseSchema,
  type MemberService,
  type SignInByIssuerRequest,
} from "#proto/daybook/identity/v1/members_pb.ts";
import { textProblem } from "#shared/json/json.ts";
import { withTransaction, type Transaction } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { newUuid } from "#shared/values/ids.ts";
import { isLongerThan } from "#shared/values/text.ts";
import { formatMicros, fromTimestamp, type Instant } from "#shared/values/time.ts";
import { checkName } from "../domain/names.ts";
import type { MemberContext } from "../members/context.ts";
import { makeRoom, mustHave, readEmail, toMember } from "../members/members.ts";
import { beginSession, toSession } from "../members/sessions.ts";
import { takeInvitation } from "../sql/member-links.ts";
import {
  bindToIssuer,
  findMemberByEmail,
  findMemberBySubject,
  insertMember,
  lockMember,
  lockMembers,
  type MemberRow,
} from "../sql/members.ts";

const issuerLengthMax = 2_000;
const subjectLengthMax = 255;
// Of years that a Date can hold.
const latestMicros = 253_402_300_799_000_000;

export function signInByIssuer({
  database,
  clock,
}: MemberContext): ServiceImpl<typeof MemberService>["signInByIssuer"] {
  return async (request) => {
    checkText(request.issuer, issuerLengthMax, "issuer");
    checkText(request.subject, subjectLengthMax, "subject");
    const email = readEmail(request.email);
    if (request.name !== undefined) checkName(request.name);
    const now = formatMicros(clock.nowMicros());
    const { authenticatedAt } = request;
    const provenAt = authenticatedAt === undefined ? 0 : readInstant(authenticatedAt);
    const { member, session, token } = await withTransaction(database, async (tx) => {
      await lockMembers(tx, []);
      const found = await findOrMake(tx, request, email, now);
      await lockMember(tx, [found.id]);
      return { member: found, ...(await beginSession(tx, clock, found.id, request.visitor, provenAt)) };
    });
    return create(SignInByIssuerResponseSchema, { member: toMember(member), session: toSession(session), token });
  };
}

async function findOrMake(
  tx: Transaction,
  { issuer, subject, name }: SignInByIssuerRequest,
  email: string,
  now: Instant,
): Promise<MemberRow> {
  // The subject comes first: at the issuer an email may change, and be given to somebody else.
  const [bound] = await findMemberBySubject(tx, [issuer, subject]);
  if (bound) return bound;
  const [known] = await findMemberByEmail(tx, [email]);
  if (known) {
    if (known.issuer !== null) {
      const message = "The member with this email signs in with another account of the issuer.";
      throw new DaybookError("unknown_member", message);
    }
    return mustHave(await bindToIssuer(tx, [known.id, issuer, subject]));
  }
  const [invitation] = await takeInvitation(tx, [email, now]);
  // One to a new password, of a member who was removed since, says no role.
  if (!invitation || invitation.grants.length === 0) {
    throw new DaybookError("unknown_member", "No member has this email. Ask an admin for an invitation.");
  }
  await makeRoom(tx, email);
  const grants = JSON.stringify(invitation.grants);
  return mustHave(await insertMember(tx, [newUuid(), email, name ?? email, null, issuer, subject, grants, now]));
}

/** @throws DaybookError `parameter_invalid` */
function readInstant(timestamp: Timestamp): Micros {
  const instant = fromTimestamp(timestamp);
  if (instant >= 0 && instant <= latestMicros) return instant;
  const message = "`authenticated_at` must lie between 1970 and 9999.";
  throw new DaybookError("parameter_invalid", message, { param: "authenticated_at" });
}

function checkText(text: string, lengthMax: number, param: string): void {
  if (text !== "" && !isLongerThan(text, lengthMax) && textProblem(text) === undefined) return;
  throw new DaybookError("parameter_invalid", `\`${param}\` must have 1 to ${lengthMax} characters.`, { param });
}
