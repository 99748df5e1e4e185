/** Members of the dashboard: their links, passwords, sessions, roles and the audit, over two replicas of identity. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fromBinary } from "@bufbuild/protobuf";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { Role, type Member } from "#proto/daybook/identity/v1/members_pb.ts";
import { SessionEndingSchema } from "#proto/daybook/identity/v1/signals_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createServiceClient } from "#shared/rpc/clients.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { newId } from "#shared/values/ids.ts";
import { fromTimestamp, toTimestamp } from "#shared/values/time.ts";
import { dashboardRights } from "../../services/identity/domain/roles.ts";
import { scopes } from "../../services/identity/domain/scopes.ts";
import { createDatabase, execute } from "../support/database.ts";
import { testCall } from "../support/daybook.ts";
import { startIdentity, type TestIdentity } from "../support/identity.ts";
import { pick, random } from "../support/random.ts";

const owner = new Owner();
let databaseUrl: string;
let replicas: TestIdentity[];
let one: TestIdentity["members"];
let properties: string[];
/** Of members whose sessions ended, as the first replica signalled it. */
let ended: string[] = [];
let now = Date.UTC(2030, 0, 1) * 1000;

const second = 1_000_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const password = "correct horse battery";
const visitor = { address: "192.0.2.1", userAgent: "Test" };
const everywhere = (role: Role) => [{ role }];

beforeAll(async () => {
  databaseUrl = owner.own(await createDatabase(inject("databaseUrl"))).url;
  const clock = { nowMicros: () => now };
  // The second finds what the first has migrated.
  replicas = [await startIdentity(owner, databaseUrl, clock), await startIdentity(owner, databaseUrl, clock)];
  const [first] = replicas;
  if (!first) throw new Error("there is no replica");
  one = first.members;
  first.signals.subscribe(SessionEndingSchema.typeName, (payload) => {
    ended.push(fromBinary(SessionEndingSchema, payload).memberId);
  });
  const identity = createServiceClient(IdentityService, first.transport);
  properties = (await identity.listProperties({ limit: 10 }, testCall)).properties.map(({ id }) => id);
});
afterAll(() => owner.close());
beforeEach(async () => {
  const tables = ["members", "member_links", "member_sessions", "password_attempts", "audit"];
  await execute(databaseUrl, `TRUNCATE ${tables.map((name) => `identity.${name}`).join(", ")}`);
  now += day;
  ended = [];
});

const hash = (token: string): Uint8Array => createHash("sha256").update(token).digest();

/** The client of a replica: each in turn. */
const at = (index: number): TestIdentity["members"] => replicas[index % 2]?.members ?? one;

/** Code, message and time to wait of a refusal; undefined when there is none. */
async function refusal(
  call: Promise<unknown>,
): Promise<{ code: string; message: string; retryAfterMs: number | null }> {
  const error = await call.then(
    () => new Error("it was not refused"),
    (failure: unknown) => failure,
  );
  if (!(error instanceof DaybookError)) throw error;
  return { code: error.code, message: error.message, retryAfterMs: error.retryAfterMs };
}

const codeOf = async (call: Promise<unknown>): Promise<string> => (await refusal(call)).code;

async function derivedHashes(): Promise<number> {
  const counts = replicas.map(async ({ registry }) => {
    const metric = await registry.getSingleMetric("daybook_password_hashes_total")?.get();
    return metric?.values[0]?.value ?? 0;
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

interface SignedIn {
  member: Member;
  memberId: string;
  sessionId: string;
  token: string;
}

function signedIn({ member, session, token }: { member?: Member; session?: { id: string }; token: string }): SignedIn {
  if (!member || !session) throw new Error("the answer is not whole");
  return { member, memberId: member.id, sessionId: session.id, token };
}

/** Makes a member without the cost of a password: she accepts an invitation by an issuer. */
async function newMember(email: string, grants: { role: Role; propertyId?: string }[]): Promise<SignedIn> {
  await one.inviteMember({ email, grants });
  return byIssuer(email);
}

const byIssuer = async (email: string, subject = email, provenAt?: number): Promise<SignedIn> =>
  signedIn(
    await one.signInByIssuer({
      issuer: "https://issuer.example.com",
      subject,
      email,
      visitor,
      ...(provenAt === undefined ? {} : { authenticatedAt: toTimestamp(provenAt) }),
    }),
  );

async function newMemberWithPassword(email: string, role: Role = Role.VIEWER): Promise<SignedIn> {
  const { token } = await one.inviteMember({ email, grants: everywhere(role) });
  return signedIn(await one.acceptLink({ tokenHash: hash(token), name: "Ada", password, visitor }));
}

const isOpen = async (token: string): Promise<boolean> =>
  (await one.authenticateSession({ tokenHash: hash(token) }).catch(() => undefined)) !== undefined;

describe("the setup link", () => {
  const accept = (token: string, index = 0) =>
    at(index).acceptLink({
      tokenHash: hash(token),
      email: `Ada${index}@Example.com`,
      name: "Ada",
      password,
      visitor,
    });

  test("makes one admin when ten race for it, and then no other", async () => {
    const { token, expiresAt } = await one.createSetupLink({});
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(expiresAt).toEqual(toTimestamp(now + hour));
    const { email, isKnown } = await one.getLink({ tokenHash: hash(token) });
    expect([email, isKnown]).toEqual([undefined, false]);
    const answers = await Promise.allSettled(Array.from({ length: 10 }, (_, index) => accept(token, index)));
    const accepted = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    expect(accepted).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status === "rejected") expect(answer.reason).toMatchObject({ code: "resource_not_found" });
    }
    const { members } = await one.listMembers({ limit: 10 });
    expect(members).toMatchObject([
      { email: expect.stringMatching(/^ada\d@example\.com$/), grants: [{ role: Role.ADMIN }] },
    ]);
    expect(members[0]?.grants[0]?.rights).toContain("members:manage");
    const session = await one.authenticateSession({ tokenHash: hash(accepted[0]?.token ?? "") });
    expect(session.member?.id).toBe(members[0]?.id);
    expect(await codeOf(accept(token))).toBe("resource_not_found");
    expect(await codeOf(one.createSetupLink({}))).toBe("invalid_state_transition");
  });

  test("ends after an hour, when another is made, and when an invitation makes the first member", async () => {
    const first = await one.createSetupLink({});
    const { token } = await one.createSetupLink({});
    const unknown = await refusal(accept("no such link"));
    expect(await refusal(accept(first.token))).toEqual(unknown);
    now += hour - second;
    await one.getLink({ tokenHash: hash(token) });
    now += second;
    expect(await refusal(accept(token))).toEqual(unknown);
    expect(await refusal(one.getLink({ tokenHash: hash(token) }))).toEqual(unknown);
    expect(await refusal(one.getLink({ tokenHash: new Uint8Array(5) }))).toEqual(unknown);
    const third = await one.createSetupLink({});
    await newMember("grace@example.com", everywhere(Role.ADMIN));
    expect(await refusal(accept(third.token))).toEqual(unknown);
  });

  test.each([
    ["password", { password: "eleven char" }],
    ["password", { password: "" }],
    ["password", { password: "é".repeat(129) }],
    ["password", { password: `a${"\u0301".repeat(1_000_000)}` }],
    ["password", { password: "\ud800".repeat(12) }],
    ["email", { email: "ada" }],
    ["email", { email: undefined }],
    ["name", { name: undefined }],
    ["name", { name: " " }],
    ["name", { name: "x".repeat(256) }],
  ])("refuses a bad %s before any work, and works afterwards", async (param, bad) => {
    const { token } = await one.createSetupLink({});
    const before = await derivedHashes();
    const good = { tokenHash: hash(token), email: "ada@example.com", name: "Ada", password, visitor };
    await expect(one.acceptLink({ ...good, ...bad })).rejects.toMatchObject({ param });
    expect(await derivedHashes()).toBe(before);
    await one.getLink({ tokenHash: hash(token) });
  });
});

describe("an invitation", () => {
  test("ends after a day, when it is used, replaced or revoked, and with who made it", async () => {
    const admin = await newMember("ada@example.com", everywhere(Role.ADMIN));
    const grants = everywhere(Role.VIEWER);
    const open = async (token: string): Promise<boolean> =>
      (await one.getLink({ tokenHash: hash(token) }).catch(() => undefined)) !== undefined;
    const invite = async (email: string) =>
      (await one.inviteMember({ email, grants, invitedBy: admin.memberId })) as {
        token: string;
        invitation: { id: string };
      };

    const old = await invite("b@example.com");
    now += day - second;
    expect(await open(old.token)).toBe(true);
    now += second;
    expect(await open(old.token)).toBe(false);
    const [replaced, later] = [await invite("B@example.com"), await invite("b@example.com")];
    expect([await open(replaced.token), await open(later.token)]).toEqual([false, true]);
    const revoked = await invite("c@example.com");
    const listed = await one.listInvitations({});
    expect(listed.invitations.map(({ email, invitedBy }) => [email, invitedBy])).toEqual([
      ["c@example.com", admin.memberId],
      ["b@example.com", admin.memberId],
    ]);
    await one.revokeInvitation({ invitationId: revoked.invitation.id });
    await one.revokeInvitation({ invitationId: revoked.invitation.id });
    expect(await open(revoked.token)).toBe(false);
    // Demoted or removed, she leaves no way back.
    await newMember("other@example.com", everywhere(Role.ADMIN));
    await one.updateMember({ memberId: admin.memberId, grants });
    expect(await open(later.token)).toBe(false);
    expect((await one.listInvitations({})).invitations).toEqual([]);
  });

  test("is for its email and new members say their name; only admins of all properties invite", async () => {
    const [property = ""] = properties;
    const some = await newMember("some@example.com", [{ propertyId: property, role: Role.ADMIN }]);
    const ask = { email: "b@example.com", grants: everywhere(Role.ADMIN), invitedBy: some.memberId };
    expect(await codeOf(one.inviteMember(ask))).toBe("missing_scope");
    expect(await codeOf(one.inviteMember({ ...ask, invitedBy: newId("mem") }))).toBe("resource_not_found");
    expect(await codeOf(one.inviteMember({ email: "b@example.com" }))).toBe("parameter_missing");
    const { token } = await one.inviteMember({ email: "b@example.com", grants: everywhere(Role.SUPPORT) });
    const accept = { tokenHash: hash(token), name: "B", password, visitor };
    expect(await codeOf(one.acceptLink({ ...accept, email: "c@example.com" }))).toBe("parameter_conflict");
    const { member } = await one.acceptLink({ ...accept, email: "B@Example.com" });
    expect(member).toMatchObject({ email: "b@example.com", name: "B", hasPassword: true });
  });

  test("replaces a lost password, keeps the roles, and ends the sessions before", async () => {
    const before = await newMemberWithPassword("ada@example.com", Role.DEVELOPER);
    const { token } = await one.inviteMember({ email: "ADA@example.com" });
    expect(await one.getLink({ tokenHash: hash(token) })).toMatchObject({ email: "ada@example.com", isKnown: true });
    const accept = { tokenHash: hash(token), password: "another long password", visitor };
    expect(await codeOf(one.acceptLink({ ...accept, name: "Eve" }))).toBe("parameter_conflict");
    const after = signedIn(await one.acceptLink(accept));
    expect(after.member).toMatchObject({ id: before.memberId, name: "Ada", grants: [{ role: Role.DEVELOPER }] });
    expect([await isOpen(before.token), await isOpen(after.token)]).toEqual([false, true]);
    expect(ended).toContain(before.memberId);
    expect(await codeOf(one.signIn({ email: "ada@example.com", password, visitor }))).toBe("wrong_password");
  });

  test("names at most one role in a property that there is", async () => {
    const [property = ""] = properties;
    const grant = { propertyId: property, role: Role.VIEWER };
    for (const [grants, code] of [
      [[{ role: Role.UNSPECIFIED }], "parameter_invalid"],
      [[{ role: 9 as Role }], "parameter_invalid"],
      [[grant, { ...grant, role: Role.ADMIN }], "parameter_conflict"],
      [[{ role: Role.VIEWER }, { role: Role.VIEWER }], "parameter_conflict"],
      [[{ ...grant, propertyId: newId("prop") }], "resource_not_found"],
      [[{ ...grant, propertyId: "prop_1" }], "invalid_id"],
      [Array.from({ length: 501 }, () => grant), "too_many_items"],
    ] as const) {
      expect(await codeOf(one.inviteMember({ email: "b@example.com", grants: [...grants] }))).toBe(code);
    }
    const { invitation } = await one.inviteMember({ email: "b@example.com", grants: [grant, { role: Role.SUPPORT }] });
    expect(invitation?.grants).toMatchObject([grant, { role: Role.SUPPORT }]);
  });
});

describe("passwords", () => {
  const wrong = (email: string, address: string, index = 0) =>
    at(index).signIn({ email, password: "not the password", visitor: { address, userAgent: "" } });

  test("wrong ones are answered the same and cost the same whether somebody has the email", async () => {
    await newMemberWithPassword("ada@example.com");
    const seen: { counts: Record<string, number>; hashes: number }[] = [];
    for (const email of ["ada@example.com", "nobody@example.com", "not an email", ""]) {
      const before = await derivedHashes();
      const addresses = Array.from({ length: 100 }, (_, index) => `203.0.113.${index}`);
      const answers = await Promise.all(addresses.map((address, index) => refusal(wrong(email, address, index))));
      const counts: Record<string, number> = {};
      for (const answer of answers) counts[JSON.stringify(answer)] = (counts[JSON.stringify(answer)] ?? 0) + 1;
      seen.push({ counts, hashes: (await derivedHashes()) - before });
      // The addresses are new to the next email.
      now += day;
    }
    const [first] = seen;
    expect(first?.hashes).toBe(10);
    const codes = Object.entries(first?.counts ?? {}).map(([answer, count]) => [JSON.parse(answer).code, count]);
    expect(Object.fromEntries(codes)).toEqual({ wrong_password: 10, rate_limited: 90 });
    for (const answers of seen) expect(answers).toEqual(first);
  });

  test("many wrong ones slow down their email for a quarter of an hour at most, but not where she is known", async () => {
    const email = "ada@example.com";
    await newMemberWithPassword(email);
    const signIn = (address: string) => one.signIn({ email, password, visitor: { address, userAgent: "" } });
    await signIn("198.51.100.7");
    let address = 0;
    // Each from an address that is new, by replicas in turn.
    const wrongOne = () => refusal(wrong(email, `2001:db8:${++address}::1`, address));
    for (let failures = 1; failures <= 21; failures++) {
      expect(await wrongOne()).toMatchObject({ code: "wrong_password" });
      if (failures < 10) continue;
      const retryAfterMs = Math.min(15 * 60 * 1000, 1000 * 2 ** (failures - 10));
      expect(await wrongOne()).toMatchObject({ code: "rate_limited", retryAfterMs });
      now += retryAfterMs * 1000 - 1;
      expect(await wrongOne()).toMatchObject({ code: "rate_limited", retryAfterMs: 1000 });
      now += 1;
    }
    expect(await codeOf(wrong(email, "203.0.113.9"))).toBe("wrong_password");
    // A flood of attempts that have to wait would queue for the lock, with all connections.
    const connection = new pg.Client(databaseUrl);
    await connection.connect();
    await connection.query("BEGIN; LOCK TABLE identity.password_attempts IN EXCLUSIVE MODE");
    const code = await codeOf(signIn("203.0.113.9"));
    await connection.end();
    expect(code).toBe("rate_limited");
    await signIn("198.51.100.7");
    // Her sign-in ends the delay, and so does time.
    await signIn("203.0.113.9");
  });

  test("many wrong ones from an address slow it down for every email, and a right one gives back itself only", async () => {
    const email = "ada@example.com";
    await newMemberWithPassword(email);
    for (let index = 0; index < 30; index++) {
      expect(await codeOf(wrong(`nobody${index}@example.com`, `2001:db8::${index}`))).toBe("wrong_password");
    }
    const from = (address: string) => one.signIn({ email, password, visitor: { address, userAgent: "" } });
    const answer = await refusal(from("2001:db8::ffff"));
    expect(answer).toMatchObject({ code: "rate_limited", retryAfterMs: 1_000 });
    await from("2001:db8:0:1::1");
    now += second;
    await from("2001:db8::ffff");
    expect(await codeOf(wrong("nobody@example.com", "2001:db8::1"))).toBe("wrong_password");
    expect(await refusal(from("2001:db8::ffff"))).toMatchObject({ code: "rate_limited", retryAfterMs: 2_000 });
    now += 6 * hour + 2 * second;
    for (const index of [1, 2, 3, 4]) {
      expect(await codeOf(wrong(`nobody${index}@example.com`, "2001:db8::1"))).toBe("wrong_password");
    }
    now += 31 * day;
    await replicas[0]?.forget();
    await from("192.0.2.1");
  });

  test("are the same in every Unicode form, and are changed by who knows the one before", async () => {
    const email = "ada@example.com";
    const { token } = await one.inviteMember({ email, grants: everywhere(Role.VIEWER) });
    const accented = "caf\u00e9 caf\u00e9 caf\u00e9";
    const first = signedIn(await one.acceptLink({ tokenHash: hash(token), name: "Ada", password: accented, visitor }));
    const later = signedIn(
      await one.signIn({ email: "ADA@EXAMPLE.COM ", password: accented.normalize("NFD"), visitor }),
    );
    const change = { sessionId: later.sessionId, address: visitor.address };
    expect(await codeOf(one.changePassword({ ...change, currentPassword: password, newPassword: password }))).toBe(
      "wrong_password",
    );
    expect(await codeOf(one.changePassword({ ...change, currentPassword: accented, newPassword: "short" }))).toBe(
      "parameter_invalid",
    );
    ended = [];
    await one.changePassword({ ...change, currentPassword: accented, newPassword: password });
    expect([await isOpen(first.token), await isOpen(later.token)]).toEqual([false, true]);
    expect(ended).toEqual([first.memberId]);
    expect(await codeOf(one.signIn({ email, password: accented, visitor }))).toBe("wrong_password");
    expect(
      await codeOf(
        one.changePassword({ ...change, sessionId: first.sessionId, currentPassword: password, newPassword: password }),
      ),
    ).toBe("sign_in_required");
  });
});

describe("sessions", () => {
  test("end 12 hours after their last use and 7 days after their beginning, and their use is written each minute", async () => {
    const { token } = await newMember("ada@example.com", everywhere(Role.VIEWER));
    const began = now;
    const read = async () => (await one.authenticateSession({ tokenHash: hash(token) })).session;
    now += minute - second;
    expect((await read())?.lastUsedAt).toEqual(toTimestamp(began));
    now += second;
    expect(await read()).toMatchObject({ lastUsedAt: toTimestamp(now), expiresAt: toTimestamp(now + 12 * hour) });
    expect((await one.listMembers({ limit: 1 })).members[0]?.lastSeenAt).toEqual(toTimestamp(now));
    while (now + 11 * hour < began + 7 * day) {
      now += 11 * hour;
      await read();
    }
    expect((await read())?.expiresAt).toEqual(toTimestamp(began + 7 * day));
    now = began + 7 * day;
    const unknown = await refusal(one.authenticateSession({ tokenHash: hash("none") }));
    expect(unknown.code).toBe("sign_in_required");
    expect(await refusal(read())).toEqual(unknown);
    const idle = await byIssuer("ada@example.com");
    now += 12 * hour;
    expect(await refusal(one.authenticateSession({ tokenHash: hash(idle.token) }))).toEqual(unknown);
    expect((await one.listSessions({ memberId: idle.memberId })).sessions).toEqual([]);
    await replicas[0]?.forget();
    expect(await refusal(one.authenticateSession({ tokenHash: new Uint8Array(3) }))).toEqual(unknown);
  });

  test("are fresh for 10 minutes after a password", async () => {
    const { sessionId, token } = await newMemberWithPassword("ada@example.com");
    const freshUntil = async () => (await one.authenticateSession({ tokenHash: hash(token) })).session?.freshUntil;
    expect(await freshUntil()).toEqual(toTimestamp(now + 10 * minute));
    now += 30 * minute;
    const confirm = { sessionId, address: visitor.address };
    expect(await codeOf(one.confirmPassword({ ...confirm, password: "wrong" }))).toBe("wrong_password");
    expect(fromTimestamp((await freshUntil()) ?? toTimestamp(0))).toBeLessThan(now);
    const { session } = await one.confirmPassword({ ...confirm, password });
    expect(session?.freshUntil).toEqual(toTimestamp(now + 10 * minute));
    const without = await newMember("b@example.com", everywhere(Role.VIEWER));
    expect(await codeOf(one.confirmPassword({ ...confirm, sessionId: without.sessionId, password }))).toBe(
      "invalid_state_transition",
    );
    now += day;
    expect(await codeOf(one.confirmPassword({ ...confirm, password }))).toBe("sign_in_required");
    // An issuer that knows the browser asks nothing, so its own sign-in counts, and none that is to come.
    for (const [provenAt, until] of [
      [now - minute, now + 9 * minute],
      [now - day, now - day + 10 * minute],
      [now + day, now + 10 * minute],
      [undefined, 10 * minute],
    ] as const) {
      const { token: other } = await byIssuer("b@example.com", "b@example.com", provenAt);
      const { session: begun } = await one.authenticateSession({ tokenHash: hash(other) });
      expect(begun?.freshUntil).toEqual(toTimestamp(until));
    }
  });

  test("are at most 100 a member, listed newest first, and end one by one or all but one", async () => {
    const first = await newMember("ada@example.com", everywhere(Role.VIEWER));
    const other = await newMember("b@example.com", everywhere(Role.VIEWER));
    const more: SignedIn[] = [];
    for (let index = 0; index < 100; index++) {
      now += second;
      more.push(await byIssuer("ada@example.com"));
    }
    const { memberId } = first;
    const list = async () => (await one.listSessions({ memberId })).sessions.map(({ id }) => id);
    expect(await list()).toEqual(more.map(({ sessionId }) => sessionId).toReversed());
    expect(await isOpen(first.token)).toBe(false);
    const [a, b] = more.slice(0, 2) as [SignedIn, SignedIn];
    const end = async (which: Parameters<typeof one.endSession>[0]["which"]) =>
      (await one.endSession({ memberId, ...(which && { which }) })).ended;
    ended = [];
    expect(await end({ case: "sessionId", value: other.sessionId })).toBe(0);
    expect(ended).toEqual([]);
    expect(await end({ case: "sessionId", value: a.sessionId })).toBe(1);
    expect(ended).toEqual([memberId]);
    expect(await end({ case: "allButSessionId", value: b.sessionId })).toBe(98);
    expect(await list()).toEqual([b.sessionId]);
    expect(await isOpen(other.token)).toBe(true);
    await expect(one.endSession({ memberId })).rejects.toMatchObject({ code: "parameter_missing" });
  });

  test("end with new roles, but for the one that is named, and with the member", async () => {
    await newMember("admin@example.com", everywhere(Role.ADMIN));
    const first = await newMember("ada@example.com", everywhere(Role.VIEWER));
    const kept = await byIssuer("ada@example.com");
    const { memberId } = first;
    ended = [];
    await one.updateMember({ memberId, name: "Ada L.", grants: everywhere(Role.VIEWER) });
    expect([await isOpen(first.token), ended]).toEqual([true, []]);
    const { member } = await one.updateMember({
      memberId,
      grants: everywhere(Role.SUPPORT),
      keptSessionId: kept.sessionId,
    });
    expect(member).toMatchObject({ name: "Ada L.", grants: [{ role: Role.SUPPORT }] });
    expect([await isOpen(first.token), await isOpen(kept.token)]).toEqual([false, true]);
    const answer = await one.authenticateSession({ tokenHash: hash(kept.token) });
    expect(answer.member?.grants[0]?.rights).toContain("profiles:merge");
    await one.removeMember({ memberId });
    expect(await isOpen(kept.token)).toBe(false);
    expect(ended).toEqual([memberId, memberId]);
    expect(await codeOf(one.removeMember({ memberId }))).toBe("resource_not_found");
    // The email is free again.
    await newMember("ada@example.com", everywhere(Role.VIEWER));
  });
});

describe("sign-in by an issuer", () => {
  test("binds a member to the first subject, which alone decides from then on", async () => {
    const made = await newMemberWithPassword("ada@example.com");
    const bound = await byIssuer("ADA@example.com", "1");
    expect(bound).toMatchObject({ memberId: made.memberId, member: { issuer: "https://issuer.example.com" } });
    expect(await codeOf(byIssuer("ada@example.com", "2"))).toBe("unknown_member");
    expect((await byIssuer("married@example.com", "1")).memberId).toBe(made.memberId);
    await expect(byIssuer("ada@example.com", "1", -1)).rejects.toMatchObject({ param: "authenticated_at" });
    expect(await codeOf(byIssuer("nobody@example.com", "3"))).toBe("unknown_member");
    await expect(byIssuer("nobody@example.com", "")).rejects.toMatchObject({ param: "subject" });
    await expect(byIssuer("nobody@example.com", "x".repeat(256))).rejects.toMatchObject({ param: "subject" });
  });

  test("accepts the open invitation of its email once, with its roles", async () => {
    await one.inviteMember({ email: "b@example.com", grants: everywhere(Role.SUPPORT) });
    const answers = await Promise.all([1, 2, 3].map(() => byIssuer("b@example.com", "b")));
    expect(new Set(answers.map(({ memberId }) => memberId)).size).toBe(1);
    expect(answers[0]?.member).toMatchObject({ hasPassword: false, grants: [{ role: Role.SUPPORT }] });
    await one.inviteMember({ email: "c@example.com", grants: everywhere(Role.SUPPORT) });
    now += day;
    expect(await codeOf(byIssuer("c@example.com"))).toBe("unknown_member");
  });
});

describe("admins", () => {
  test("one of all properties is always left, whatever is changed at the same time", async () => {
    const [property = ""] = properties;
    await newMember("first@example.com", everywhere(Role.ADMIN));
    let count = 0;
    const kinds = [everywhere(Role.ADMIN), everywhere(Role.VIEWER), [{ propertyId: property, role: Role.ADMIN }]];
    for (let round = 0; round < 30; round++) {
      const { members } = await one.listMembers({ limit: 100 });
      const changes = Array.from({ length: 6 }, (_, index) => {
        const memberId = pick(members).id;
        const client = at(index);
        if (random(3) === 0) return client.removeMember({ memberId });
        return client.updateMember({ memberId, grants: pick(kinds) });
      });
      for (const answer of await Promise.allSettled(changes)) {
        if (answer.status === "fulfilled") continue;
        expect(["invalid_state_transition", "resource_not_found"]).toContain((answer.reason as DaybookError).code);
      }
      const left = (await one.listMembers({ limit: 100 })).members;
      const admins = left.filter(({ grants }) =>
        grants.some(({ role, propertyId }) => role === Role.ADMIN && propertyId === undefined),
      );
      expect(admins.length).toBeGreaterThan(0);
      while ((await one.listMembers({ limit: 100 })).members.length < 4) {
        await newMember(`m${++count}@example.com`, pick(kinds));
      }
    }
  });

  test("two who remove each other: one stays", async () => {
    for (let round = 0; round < 10; round++) {
      await execute(databaseUrl, "TRUNCATE identity.members CASCADE");
      const a = await newMember("a@example.com", everywhere(Role.ADMIN));
      const b = await newMember("b@example.com", everywhere(Role.ADMIN));
      const answers = await Promise.allSettled([at(0).removeMember(b), at(1).removeMember(a)]);
      expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect((await one.listMembers({ limit: 10 })).members).toHaveLength(1);
    }
  });

  test("an invitation with other roles does not demote the last one", async () => {
    const { memberId } = await newMember("ada@example.com", everywhere(Role.ADMIN));
    const { token } = await one.inviteMember({ email: "ada@example.com", grants: everywhere(Role.VIEWER) });
    expect(await codeOf(one.acceptLink({ tokenHash: hash(token), password, visitor }))).toBe(
      "invalid_state_transition",
    );
    expect((await one.listMembers({ limit: 1 })).members).toMatchObject([
      { id: memberId, grants: [{ role: Role.ADMIN }] },
    ]);
  });

  test("one who accepts an invitation to other roles leaves no invitation", async () => {
    const admin = await newMember("ada@example.com", everywhere(Role.ADMIN));
    await newMember("other@example.com", everywhere(Role.ADMIN));
    const invite = (email: string, role: Role, invitedBy?: string) =>
      one.inviteMember({ email, grants: everywhere(role), ...(invitedBy === undefined ? {} : { invitedBy }) });
    const { invitation } = await invite("b@example.com", Role.ADMIN, admin.memberId);
    const accept = async (role: Role) => {
      const { token } = await invite("ada@example.com", role);
      await one.acceptLink({ tokenHash: hash(token), password, visitor });
      return (await one.listInvitations({})).invitations.map(({ id }) => id);
    };
    expect(await accept(Role.ADMIN)).toEqual([invitation?.id]);
    expect(await accept(Role.VIEWER)).toEqual([]);
  });

  test("members come in pages", async () => {
    const made: string[] = [];
    for (let index = 0; index < 7; index++) {
      made.push((await newMember(`m${index}@example.com`, everywhere(Role.ADMIN))).memberId);
    }
    const found: string[] = [];
    for (let hasMore = true; hasMore;) {
      const after = found.at(-1);
      const page = await one.listMembers({ limit: 3, ...(after !== undefined && { afterMemberId: after }) });
      found.push(...page.members.map(({ id }) => id));
      ({ hasMore } = page);
    }
    expect(found).toEqual(made);
    expect(await codeOf(one.listMembers({ limit: 501 }))).toBe("parameter_invalid");
  });
});

describe("roles", () => {
  test("allow what the document says, in each property and in all", async () => {
    const page = await readFile("docs/operating/members.md", "utf8");
    const [, names = "", ...rows] =
      page
        .match(/^\| `?Right`?.*\n(?:\|.*\n)+/m)?.[0]
        .split("\n")
        .filter((row) => row !== "") ?? [];
    expect(names).toMatch(/^\| -/);
    const table = rows.map((row) => row.split("|").map((cell) => cell.trim().replaceAll("`", "")));
    const said = new Set(table.map(([, right = ""]) => right));
    const columns = [Role.VIEWER, Role.DEVELOPER, Role.SUPPORT, Role.ADMIN];
    const grants = columns.map((role, index) => ({ role, email: `r${index}@example.com` }));
    const [property = ""] = properties;
    for (const [index, { role, email }] of grants.entries()) {
      const { member } = await newMember(email, [{ role }, { role, propertyId: property }]);
      const [everywhereRights = [], oneRights = []] = member.grants.map(({ rights }) => rights);
      const expected = table.flatMap((cells) => (cells[index + 3] === "yes" ? [cells[1]] : []));
      expect(everywhereRights.filter((right) => role !== Role.ADMIN || said.has(right))).toEqual(expected);
      expect(oneRights).toEqual(everywhereRights.filter((right) => !["members:manage", "operate"].includes(right)));
      if (role === Role.ADMIN) expect(everywhereRights).toEqual(expect.arrayContaining([...scopes]));
    }
    for (const right of dashboardRights) expect(said).toContain(right);
  });
});

describe("the audit", () => {
  const entry = { action: "sign_in", succeeded: true, address: "2001:db8::1", requestId: newId("req") };

  test("comes newest first in pages, by property, member and action, and is kept for two years", async () => {
    const [members, actions] = [
      [newId("mem"), newId("mem")],
      ["sign_in", "daybook.identity.v1.IdentityService/RevokeKey"],
    ];
    const all: { id: string; memberId?: string; propertyId?: string; action: string }[] = [];
    for (let index = 0; index < 60; index++) {
      const given = {
        ...entry,
        action: pick(actions),
        memberId: pick([...members, undefined]),
        memberEmail: pick(["Ada@example.com", undefined]),
        propertyId: pick([...properties, undefined]),
        targetIds: [[], [newId("key"), newId("prof")]][random(2)],
      };
      const { entry: kept } = await at(index).recordAudit({ entry: given });
      const expected = { ...given, memberEmail: given.memberEmail?.toLowerCase(), at: toTimestamp(now) };
      for (const [name, value] of Object.entries(expected))
        expect(kept?.[name as keyof typeof expected]).toEqual(value);
      all.unshift({ ...given, id: kept?.id ?? "" });
    }
    for (const memberId of [undefined, members[0]])
      for (const propertyId of [undefined, properties[0]])
        for (const action of [undefined, actions[1]]) {
          const expected = all.filter(
            (each) =>
              (memberId === undefined || each.memberId === memberId) &&
              (propertyId === undefined || each.propertyId === propertyId) &&
              (action === undefined || each.action === action),
          );
          const found: string[] = [];
          for (let hasMore = true; hasMore;) {
            const afterEntryId = found.at(-1);
            const page = await one.listAudit({ limit: 7, memberId, propertyId, action, afterEntryId });
            found.push(...page.entries.map(({ id }) => id));
            ({ hasMore } = page);
          }
          expect(found).toEqual(expected.map(({ id }) => id));
        }
    const began = now;
    // Entries are as old as their ids, which the machine's clock makes.
    now = Date.now() * 1000 + 729 * day;
    await replicas[0]?.forget();
    expect((await one.listAudit({ limit: 500 })).entries).toHaveLength(60);
    now = Date.now() * 1000 + 731 * day;
    await replicas[0]?.forget();
    expect((await one.listAudit({ limit: 500 })).entries).toEqual([]);
    now = began;
  });

  test.each([
    ["action", { action: "" }],
    ["action", { action: "a b" }],
    ["target_ids", { targetIds: ["ada@example.com"] }],
    ["target_ids", { targetIds: Array.from({ length: 101 }, () => newId("key")) }],
    ["address", { address: "<script>" }],
    ["request_id", { requestId: "x" }],
    ["member_id", { memberId: "x" }],
    ["email", { memberEmail: "x" }],
    ["property_id", { propertyId: "x" }],
  ])("keeps no entry with a bad %s", async (param, bad) => {
    await expect(one.recordAudit({ entry: { ...entry, ...bad } })).rejects.toMatchObject({ param });
    expect((await one.listAudit({ limit: 10 })).entries).toEqual([]);
  });
});
