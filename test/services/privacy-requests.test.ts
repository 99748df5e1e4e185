/** Privacy requests: what is refused, what is done once, and what becomes of them. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  CreatePrivacyRequestRequestSchema,
  PrivacyPart,
  PrivacyPhase,
  PrivacyRequestStatus as Status,
  PrivacyRequestType as Type,
} from "#proto/daybook/profile/v1/privacy_pb.ts";
import { ProfileStatus } from "#proto/daybook/profile/v1/profile_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { fromConnectError } from "#shared/rpc/errors.ts";
import { decodeId, newId } from "#shared/values/ids.ts";
import { startSingleProcess, testCall, type SingleProcess, type TestProperty } from "../support/daybook.ts";
import { newProfile } from "../support/people.ts";
import { untilEnded } from "../support/privacy.ts";
import { eventually } from "../support/processes.ts";

const owner = new Owner();
let daybook: SingleProcess;
let api: TestProperty;
const createdBy = newId("key");
const dayMs = 24 * 3_600_000;
const inDays = (days: number): string => new Date(Date.now() + days * dayMs).toISOString();

beforeAll(async () => {
  daybook = await startSingleProcess(owner, { profile: { redactionSweepSeconds: 1 } });
});
beforeEach(async () => {
  api = await daybook.newProperty();
});
afterAll(() => owner.close());

type Fields = Partial<Omit<MessageInitShape<typeof CreatePrivacyRequestRequestSchema>, "$typeName" | "$unknown">>;

async function ask(fields: Fields) {
  const request = { propertyId: api.propertyId, type: Type.ERASURE, createdBy, ...fields };
  const { request: made, known } = await daybook.clients.privacy.createPrivacyRequest(request, testCall);
  if (!made) throw new Error("there is no request");
  return { ...made, known };
}

async function refusalOf(work: Promise<unknown>): Promise<[string, string | null]> {
  const { code, param } = fromConnectError(
    await work.then(
      () => new Error("it was not refused"),
      (error: unknown) => error,
    ),
  );
  return [code, param];
}

/** Does something while a profile cannot be redacted, nor any that comes after it in the same request. */
async function whileNotRedacted<T>(profileId: string, work: () => Promise<T>): Promise<T> {
  const locker = new pg.Client({ connectionString: daybook.databaseUrl });
  await locker.connect();
  try {
    await locker.query("BEGIN");
    await locker.query("SELECT FROM profile.profiles WHERE property_id = $1 AND id = $2 FOR UPDATE", [
      decodeId("prop", api.propertyId, "property_id"),
      decodeId("prof", profileId, "profile_id"),
    ]);
    return await work();
  } finally {
    // Ends the transaction, too.
    await locker.end();
  }
}

const email = { type: "email", value: " Jane@Example.com" };
const nobody = { type: "external_id", value: "customer-1815" };

test.each<[name: string, fields: Fields, code: string, param: string]>([
  ["no type", { type: Type.UNSPECIFIED, identifiers: [email] }, "parameter_missing", "type"],
  ["nobody", {}, "parameter_missing", "profile_id"],
  ["both", { profileId: newId("prof"), identifiers: [email] }, "parameter_conflict", "identifiers"],
  ["21 identifiers", { identifiers: Array.from({ length: 21 }, () => email) }, "too_many_items", "identifiers"],
  ["a bad identifier", { identifiers: [{ type: "email", value: "x" }] }, "parameter_invalid", "identifiers.0.value"],
  ["the same twice", { identifiers: [email, email] }, "parameter_invalid", "identifiers.1"],
  ["a profile of nobody", { profileId: newId("prof") }, "resource_not_found", "profile_id"],
  ["an id of something else", { profileId: newId("evt") }, "invalid_id", "profile_id"],
  ["a long reference", { identifiers: [nobody], reference: "x".repeat(256) }, "parameter_invalid", "reference"],
  [
    "a telling reference",
    { identifiers: [email], reference: "dsar JANE@example.com" },
    "parameter_invalid",
    "reference",
  ],
  ["a long regulation", { identifiers: [nobody], regulation: "x".repeat(65) }, "parameter_invalid", "regulation"],
  ["a submission tomorrow", { identifiers: [nobody], submittedAt: inDays(1) }, "parameter_invalid", "submitted_at"],
  ["no time", { identifiers: [nobody], submittedAt: "yesterday" }, "parameter_invalid", "submitted_at"],
  ["a begin in 31 days", { identifiers: [nobody], notBefore: inDays(31) }, "parameter_invalid", "not_before"],
  [
    "access that suppresses",
    { type: Type.ACCESS, identifiers: [nobody], suppress: true },
    "parameter_conflict",
    "suppress",
  ],
])("refuses %s", async (_name, fields, code, param) => {
  expect(await refusalOf(ask(fields))).toEqual([code, param]);
});

test("makes one request of a reference and of an operation, however many ask at once", async () => {
  const fields = { identifiers: [nobody], reference: "dsar-1", notBefore: inDays(20), submittedAt: inDays(-3) };
  const same = await Promise.all(Array.from({ length: 8 }, () => ask({ ...fields, operationId: newId("op") })));
  expect(new Set(same.map(({ id }) => id)).size).toBe(1);
  expect(same.filter(({ known }) => !known).length).toBe(1);
  const access = await ask({ ...fields, type: Type.ACCESS });
  expect([access.known, access.id === same[0]?.id]).toEqual([false, false]);
  const operationId = newId("op");
  const again = await Promise.all(
    Array.from({ length: 8 }, () => ask({ identifiers: [nobody], notBefore: inDays(20), operationId })),
  );
  expect(new Set(again.map(({ id, known }) => `${id} ${known}`)).size).toBe(1);
  const [{ submittedAt, dueAt } = {}] = same;
  expect(Number(dueAt?.seconds) - Number(submittedAt?.seconds)).toBe(30 * 24 * 3600);
});

test("lists requests newest first, by each filter, and to nobody else", async () => {
  const person = await newProfile(api);
  const later = { notBefore: inDays(20) };
  const byProfile = await ask({ ...later, profileId: person.id });
  const access = await ask({ ...later, type: Type.ACCESS, identifiers: [nobody], submittedAt: inDays(-20) });
  const third = await ask({ ...later, identifiers: [email], reference: "r-3" });
  const cancelled = await daybook.clients.privacy.cancelPrivacyRequest(
    { propertyId: api.propertyId, privacyRequestId: third.id },
    testCall,
  );
  expect(cancelled.request?.status).toBe(Status.CANCELLED);
  const list = async (filter: object, propertyId = api.propertyId): Promise<string[]> => {
    const { requests } = await daybook.clients.privacy.listPrivacyRequests(
      { propertyId, limit: 10, ...filter },
      testCall,
    );
    return requests.map(({ id }) => id);
  };
  const dueBy = (days: number) => ({
    lt: { seconds: BigInt(Math.floor(Date.now() / 1000 + days * 24 * 3600)), nanos: 0 },
  });
  expect(await list({})).toEqual([third.id, access.id, byProfile.id]);
  expect(await list({ afterPrivacyRequestId: third.id })).toEqual([access.id, byProfile.id]);
  expect(await list({ type: Type.ACCESS })).toEqual([access.id]);
  expect(await list({ statuses: [Status.PENDING] })).toEqual([access.id, byProfile.id]);
  expect(await list({ statuses: [Status.CANCELLED, Status.FAILED] })).toEqual([third.id]);
  expect(await list({ profileId: person.id })).toEqual([byProfile.id]);
  expect(await list({ reference: "r-3" })).toEqual([third.id]);
  expect(await list({ dueAt: dueBy(15) })).toEqual([access.id]);
  expect(await list({ createdAt: dueBy(-1) })).toEqual([]);
  const other = await daybook.newProperty();
  expect(await list({}, other.propertyId)).toEqual([]);
  const named = { propertyId: other.propertyId, privacyRequestId: third.id };
  const { privacy } = daybook.clients;
  for (const work of [
    privacy.getPrivacyRequest,
    privacy.cancelPrivacyRequest,
    privacy.retryPrivacyRequest,
    privacy.openExport,
  ]) {
    expect(await refusalOf(work(named, testCall))).toEqual(["resource_not_found", "privacy_request_id"]);
  }
  const own = { ...named, propertyId: api.propertyId };
  expect(await refusalOf(privacy.cancelPrivacyRequest(own, testCall))).toEqual([
    "invalid_state_transition",
    "privacy_request_id",
  ]);
  expect(await refusalOf(privacy.retryPrivacyRequest(own, testCall))).toEqual([
    "invalid_state_transition",
    "privacy_request_id",
  ]);
});

test("opens a stream until the person is erased, and erases who was merged meanwhile", async () => {
  const { privacy, profiles } = daybook.clients;
  const { propertyId } = api;
  const older = { type: "external_id", value: "older-1" };
  const first = await newProfile(api, { identifiers: [older] });
  const person = await newProfile(api, { identifiers: [email, nobody] });
  const survivor = await newProfile(api);
  await api.post("/v1/events", { type: "a.b", profile_id: person.id, properties: {} });
  const access = await ask({ type: Type.ACCESS, identifiers: [email] });
  const named = { propertyId, privacyRequestId: access.id };
  const done = await untilEnded(daybook, propertyId, access.id);
  expect(done).toMatchObject({
    status: Status.COMPLETED,
    profileIds: [person.id],
    counts: { profiles: 1n, identifiers: 2n },
  });
  expect(done.download?.events).toBe(done.counts?.events);
  expect(await privacy.openExport(named, testCall)).toMatchObject({
    profileIds: [person.id],
    identifiers: [{ type: "email", value: "jane@example.com" }],
  });

  const erasure = await whileNotRedacted(first.id, async () => {
    const asked = await ask({ identifiers: [older, email] });
    expect(await refusalOf(privacy.openExport({ ...named, privacyRequestId: asked.id }, testCall))).toEqual([
      "invalid_state_transition",
      "privacy_request_id",
    ]);
    await eventually(async () => {
      const { request } = await privacy.getPrivacyRequest({ ...named, privacyRequestId: asked.id }, testCall);
      return request?.status === Status.IN_PROGRESS ? true : undefined;
    });
    await profiles.mergeProfiles({ propertyId, profileId: survivor.id, sourceProfileId: person.id }, testCall);
    const late = { type: "external_id", value: "late-1" };
    expect((await api.post(`/v1/profiles/${survivor.id}/identifiers`, late)).status).toBe(201);
    return asked;
  });
  const erased = await untilEnded(daybook, propertyId, erasure.id);
  expect(erased.status).toBe(Status.COMPLETED);
  expect(erased.profileIds.toSorted()).toEqual([first.id, person.id, survivor.id].toSorted());
  const shown = await profiles.getProfiles({ propertyId, profileIds: [survivor.id] }, testCall);
  expect(shown.profiles[0]).toMatchObject({ status: ProfileStatus.REDACTED, identifiers: [] });
  expect(await refusalOf(privacy.openExport(named, testCall))).toEqual(["download_expired", "privacy_request_id"]);
  expect(erased.notReached).toEqual([expect.stringContaining("Backups")]);
  // A report that comes late changes nothing.
  await privacy.reportPrivacyWork(
    { ...named, part: PrivacyPart.EVENT, phase: PrivacyPhase.COUNT, counts: { events: 99n } },
    testCall,
  );
  const { request } = await privacy.getPrivacyRequest({ ...named, privacyRequestId: erasure.id }, testCall);
  expect(request).toEqual(erased);
});

test("a suppressed identifier is refused at every door, and written again once the suppression is deleted", async () => {
  const { privacy } = daybook.clients;
  const { propertyId } = api;
  await newProfile(api, { identifiers: [email] });
  const kept = await newProfile(api);
  const identifiers = [email, nobody];
  const erasure = await ask({ identifiers, suppress: true });
  expect(await untilEnded(daybook, propertyId, erasure.id)).toMatchObject({ status: Status.COMPLETED });
  const event = { type: "a.b", properties: {} };
  const answers = await Promise.all([
    api.post("/v1/profiles", { identifiers: [email] }),
    api.post("/v1/profiles/upsert", { identifiers: [{ type: "external_id", value: "free" }, email] }),
    api.post(`/v1/profiles/${kept.id}/identifiers`, nobody),
    ...identifiers.map((identifier) => api.post("/v1/events", { ...event, identifier })),
  ]);
  expect(answers.map(({ status, body }) => [status, body.error?.code, body.error?.param])).toEqual([
    [422, "identifier_suppressed", "identifiers.0"],
    [422, "identifier_suppressed", "identifiers.1"],
    [422, "identifier_suppressed", "value"],
    [422, "identifier_suppressed", "identifier.value"],
    [422, "identifier_suppressed", "identifier.value"],
  ]);
  const free = { type: "email", value: "other@example.com" };
  const batches = await Promise.all([
    api.post("/v1/events/batch", { events: [free, email, nobody].map((identifier) => ({ ...event, identifier })) }),
    api.post("/v1/profiles/batch", { profiles: [free, email].map((identifier) => ({ identifiers: [identifier] })) }),
  ]);
  expect(
    batches.map(({ body }) => (body.data.results as { error?: { code: string } }[]).map(({ error }) => error?.code)),
  ).toEqual([
    [undefined, "identifier_suppressed", "identifier_suppressed"],
    [undefined, "identifier_suppressed"],
  ]);
  const { suppressions } = await privacy.listSuppressions({ propertyId, limit: 10 }, testCall);
  expect(suppressions.map(({ type, privacyRequestId }) => [type, privacyRequestId])).toEqual([
    ["email", erasure.id],
    ["external_id", erasure.id],
  ]);
  for (const { id } of suppressions) {
    await privacy.deleteSuppression({ propertyId, suppressionId: id }, testCall);
    expect(await refusalOf(privacy.deleteSuppression({ propertyId, suppressionId: id }, testCall))).toEqual([
      "resource_not_found",
      "suppression_id",
    ]);
  }
  const again = await api.post("/v1/profiles", { identifiers });
  expect(again.status).toBe(201);
});

test("nobody has a suppressed identifier afterwards, however many write it at the same time", async () => {
  const { profiles } = daybook.clients;
  const { propertyId } = api;
  await newProfile(api, { identifiers: [email] });
  const over = new AbortController();
  const write = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await Promise.all([
        api.post("/v1/profiles/upsert", { identifiers: [email] }),
        api.post("/v1/events", { type: "a.b", identifier: email, properties: {} }),
      ]);
    }
  };
  const writing = [write(), write(), write()];
  const erasure = await ask({ identifiers: [email], suppress: true });
  const erased = await untilEnded(daybook, propertyId, erasure.id);
  over.abort();
  await Promise.all(writing);
  expect(erased.status).toBe(Status.COMPLETED);
  const { profiles: found } = await profiles.listProfiles({ propertyId, limit: 10 }, testCall);
  expect(found).toEqual([]);
});
