/** The stream of what is kept of a person: what is in it, that it shows when it is not whole, and what it costs. */
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decodeId, newId, newUuid } from "#shared/values/ids.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { exportLimits, listenerLimits } from "../../gateway/listener/limits.ts";
import type { Api } from "../support/api.ts";
import { installApp } from "../support/apps.ts";
import { startSingleProcess, testCall, type SingleProcess, type TestProperty } from "../support/daybook.ts";
import { linesOf, saveStream, verify, type Line } from "../support/export-file.ts";
import { serveServices, startGateway } from "../support/gateway.ts";
import { newEmail, newProfile } from "../support/people.ts";
import { askAccess, askPrivacy } from "../support/privacy.ts";
import { eventually } from "../support/processes.ts";
import { closeOf, getText, openSocket } from "../support/sockets.ts";

const owner = new Owner();
const dayMicros = 24 * 60 * 60 * 1_000_000;
const stalledMs = 5_000;
const mebibyte = 1024 * 1024;
let aheadMicros = 0;
let daybook: SingleProcess;
let folder: string;
let client: pg.Client;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "daybook-export-"));
  owner.defer(() => rm(folder, { recursive: true }));
  daybook = await startSingleProcess(owner, {
    clock: { nowMicros: () => Date.now() * 1000 + aheadMicros },
    profile: { redactionSweepSeconds: 1 },
    edge: {
      listener: { ...listenerLimits, answerStalledMs: stalledMs, timeoutsCheckMs: 100 },
      exports: { ...exportLimits, exportsPerCallerMax: 2 },
    },
  });
  client = new pg.Client({ connectionString: daybook.databaseUrl });
  await client.connect();
  owner.defer(() => client.end());
});
afterAll(() => owner.close());

const pathOf = (id: string): string => `/v1/privacy-requests/${id}/download`;
const idsOf = (lines: readonly Line[], kind: string): string[] =>
  lines.filter((line) => line.kind === kind).map(({ data }) => data.id);

async function record(api: Api, subject: object, properties: object = {}): Promise<string> {
  const { status, body, text } = await api.post("/v1/events", { type: "a.b", ...subject, properties });
  expect([status, text]).toEqual([201, expect.any(String)]);
  return body.data.id;
}

/** Stores many events of a profile at once. */
async function fill(api: TestProperty, profileId: string, count: number, textLength: number): Promise<void> {
  const ids = Array.from({ length: count }, () => newUuid());
  await client.query(
    `INSERT INTO event.events (property_id, id, type, profile_id, properties, occurred_at, received_at, source, backfill)
     SELECT $1, id, 'a.b', $2, json_build_object('text', repeat('x', $4)), now(), now(), 'api', true
     FROM unnest($3::uuid[]) AS new (id)`,
    [decodeId("prop", api.propertyId, "id"), decodeId("prof", profileId, "id"), ids, textLength],
  );
}

/** A person whose stream is larger than what sockets hold, and the request for it. */
async function largePerson(): Promise<{ api: TestProperty; profileId: string; id: string }> {
  const api = await daybook.newProperty();
  const { id: profileId } = await newProfile(api);
  await fill(api, profileId, 20_000, 1_000);
  return { api, profileId, id: await askAccess(api, { profile_id: profileId }) };
}

async function save(api: TestProperty, id: string, name: string, baseUrl = daybook.baseUrl, coding = "gzip") {
  const headers = { authorization: `Bearer ${api.secret}`, "accept-encoding": coding };
  const file = join(folder, name);
  const response = await fetch(baseUrl + pathOf(id), { headers });
  expect(response.status).toBe(200);
  return { file, response, saved: saveStream(response, file) };
}

/** A download on a connection of its own, which has begun, and whose reader stops unless it is told to read. */
async function openDownload(api: TestProperty, id: string) {
  const socket = await openSocket(daybook.baseUrl);
  socket.write(getText(pathOf(id), api.secret));
  await once(socket, "readable");
  let tail = "";
  const take = (chunk: Buffer | null): void => {
    if (chunk) tail = (tail + chunk.toString("latin1")).slice(-10_000);
  };
  return {
    socket,
    isWhole: () => tail.includes('{"kind":"end"'),
    readSome: () => take(socket.read() as Buffer | null),
    /** @returns the end of what came. */
    async readToEnd() {
      const closed = socket.destroyed ? undefined : closeOf(socket);
      socket.on("data", take);
      await closed;
      return tail;
    },
  };
}

describe("the stream", () => {
  test("has all that was on record of the person, of nobody else, and a last line that proves it", async () => {
    const api = await daybook.newProperty();
    const [email, card, tag] = [newEmail(), { type: "card", value: "c-1" }, { type: "cookie", value: "k-1" }];
    const person = await newProfile(api, { identifiers: [email, card], attributes: { plan: "gold", $email: "x@y.z" } });
    const source = await newProfile(api);
    const stranger = await newProfile(api);
    const events = [
      await record(api, { profile_id: person.id }, { order: "1", amount: 12345678901234567890n.toString() }),
      await record(api, { profile_id: source.id }),
    ];
    await api.post(`${person.path}/merge`, { source_profile_id: source.id });
    const anonymous = await record(api, { identifier: tag }, { seen: true });
    await record(api, { profile_id: stranger.id });
    await record(api, { identifier: { type: "cookie", value: "k-2" } });
    const memberId = newId("mem");
    const action = "daybook.profile.v1.ProfileService/UpdateTags";
    for (const target of [person.id, stranger.id]) {
      const entry = { memberId, action, targetIds: [target], propertyId: api.propertyId, succeeded: true };
      await daybook.clients.members.recordAudit({ entry }, testCall);
    }
    const id = await askAccess(api, { identifiers: [email, tag] });
    // None of this was on record when the work began.
    await record(api, { profile_id: person.id });
    await record(api, { identifier: tag });
    const late = { type: "email", value: "late@example.com" };
    expect((await api.post(`${person.path}/identifiers`, late)).status).toBe(201);

    const { text, headers } = await api.get(pathOf(id));
    expect(headers.get("content-type")).toBe("application/x-ndjson");
    expect(headers.get("content-disposition")).toBe(`attachment; filename="${id}.ndjson"`);
    const lines = linesOf(text);
    const [manifest, end] = [lines[0], lines.at(-1)];
    const { data: request } = (await api.get(`/v1/privacy-requests/${id}`)).body;
    expect(manifest).toMatchObject({
      kind: "manifest",
      format: 1,
      privacy_request_id: id,
      property_id: api.propertyId,
      as_of: request.download.as_of,
      profile_ids: [person.id, source.id].toSorted(),
      identifiers: [email, tag],
      events: request.download.events,
    });
    // The events of the person, one of the source, an anonymous one, and what the platform recorded of them.
    expect(idsOf(lines, "profile")).toEqual([person.id, source.id].toSorted());
    expect(lines.find(({ data }) => data?.id === person.id)?.data.attributes).toEqual({
      plan: "gold",
      $email: "x@y.z",
    });
    const identifiers = lines.filter(({ kind }) => kind === "identifier").map(({ data }) => data.value);
    expect(identifiers).toEqual(expect.arrayContaining([email.value, card.value]));
    expect(identifiers).not.toContain(late.value);
    expect(identifiers).toHaveLength(3);
    expect(idsOf(lines, "event")).toEqual(expect.arrayContaining(events));
    for (const { kind, data } of lines) if (kind === "event") expect([person.id, source.id]).toContain(data.profile_id);
    expect(lines.filter(({ kind }) => kind === "anonymous_event")).toEqual([
      { kind: "anonymous_event", identifier: tag, data: expect.objectContaining({ id: anonymous, profile_id: null }) },
    ]);
    expect(lines.filter(({ kind }) => kind === "merge").map(({ data }) => data)).toEqual([
      expect.objectContaining({ source_profile_id: source.id, survivor_id: person.id, merged_by: api.keyId }),
    ]);
    expect(lines.filter(({ kind }) => kind === "tag_change").map(({ data }) => data)).toEqual([
      { profile_id: person.id, changed_at: expect.any(String), changed_by: memberId },
    ]);
    const counts = Object.fromEntries(
      [...Map.groupBy(lines, ({ kind }) => kind)].map(([kind, of]) => [kind, of.length]),
    );
    delete counts.end;
    expect(end).toEqual({
      kind: "end",
      counts,
      lines: lines.length - 1,
      bytes: Buffer.byteLength(text.slice(0, text.lastIndexOf('{"kind":"end"'))),
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect((counts.event ?? 0) + (counts.anonymous_event ?? 0)).toBe(request.download.events);
  });

  test("is proven whole by a reader that knows nothing of Daybook, and one byte less or another is not", async () => {
    const api = await daybook.newProperty();
    const { id: profileId } = await newProfile(api);
    await fill(api, profileId, 1_500, 100);
    const id = await askAccess(api, { profile_id: profileId });
    const { file, response, saved } = await save(api, id, "whole.ndjson");
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(await saved).toBe(true);
    expect(await verify(file, folder)).toEqual({ code: 0, text: expect.stringContaining("event: 150") });
    const plain = await api.get(pathOf(id), { headers: { "accept-encoding": "gzip;q=0" } });
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(plain.text).toBe(await readFile(file, "utf8"));
    for (const broken of [
      plain.text.slice(0, plain.text.lastIndexOf("{")),
      plain.text.slice(0, -20),
      plain.text.replace('"a.b"', '"a.c"'),
      "",
    ]) {
      const other = join(folder, "broken.ndjson");
      await writeFile(other, broken);
      expect((await verify(other, folder)).code).toBe(1);
    }
  });

  test("shows values to a key that may export, and leaves an entry of whoever downloads", async () => {
    const api = await daybook.newProperty();
    const email = newEmail();
    const { id: profileId } = await newProfile(api, { identifiers: [email] });
    const id = await askAccess(api, { profile_id: profileId });
    const exporter = await api.withScopes(["privacy:export"]);
    expect((await exporter.get(pathOf(id))).text).toContain(email.value);
    const installation = await installApp(daybook, api.propertyId, { scopes: ["privacy:export"] });
    const token = await installation.newToken({ scopes: ["privacy:export"] });
    expect((await token.get(pathOf(id))).text).toContain(email.value);
    // Nothing is shown by these.
    expect((await exporter.request("HEAD", pathOf(id))).status).toBe(200);
    expect((await (await api.withScopes(["privacy:read"])).get(pathOf(id))).status).toBe(403);
    const { entries } = await daybook.clients.members.listAudit(
      { propertyId: api.propertyId, targetId: id, limit: 10 },
      testCall,
    );
    expect(entries.map(({ action, actorId, succeeded }) => [action, actorId, succeeded])).toEqual([
      ["privacy_export_downloaded", installation.installationId, true],
      ["privacy_export_downloaded", expect.stringMatching(/^key_/), true],
    ]);
    expect(entries[0]).toMatchObject({ targetIds: [id], address: "127.0.0.1" });
  });
});

describe("a download is refused", () => {
  test("before the request is completed, of other requests, of other properties, and after 7 days", async () => {
    const [api, other] = [await daybook.newProperty(), await daybook.newProperty()];
    const { id: profileId } = await newProfile(api);
    const later = { not_before: new Date(Date.now() + aheadMicros / 1000 + 3_600_000).toISOString() };
    const pending = await askPrivacy(api, { type: "access", profile_id: profileId, ...later });
    const refused = await api.get(pathOf(pending));
    expect([refused.status, refused.body.error.code, refused.body.error.retryable]).toEqual([409, "not_ready", true]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const erasure = await askPrivacy(api, { type: "erasure", profile_id: profileId, ...later });
    expect((await api.get(pathOf(erasure))).body.error.code).toBe("invalid_state_transition");
    const id = await askAccess(api, { profile_id: profileId });
    const foreign = await other.get(pathOf(id));
    expect([foreign.status, foreign.body.error.code]).toEqual([404, "resource_not_found"]);
    expect((await api.get(pathOf(id))).status).toBe(200);
    aheadMicros += 7 * dayMicros;
    const expired = await api.get(pathOf(id));
    expect([expired.status, expired.body.error.code]).toEqual([410, "download_expired"]);
    for (const header of ["content-disposition", "content-encoding"]) expect(expired.headers.get(header)).toBeNull();
  });

  test("once a profile is merged with somebody else's, or redacted", async () => {
    const api = await daybook.newProperty();
    const [one, other, third] = [await newProfile(api), await newProfile(api), await newProfile(api)];
    const [first, second] = [
      await askAccess(api, { profile_id: one.id }),
      await askAccess(api, { profile_id: other.id }),
    ];
    const unmerged = await askAccess(api, { profile_id: third.id });
    expect((await api.post(`${one.path}/merge`, { source_profile_id: other.id })).status).toBe(200);
    for (const id of [first, second]) {
      const answer = await api.get(pathOf(id));
      expect([answer.status, answer.body.error.message]).toEqual([410, expect.stringContaining("merged")]);
    }
    const both = await askAccess(api, { profile_id: other.id });
    expect(idsOf(linesOf((await api.get(pathOf(both))).text), "profile")).toEqual([one.id, other.id].toSorted());
    const redacted = { propertyId: api.propertyId, profileId: third.id };
    await daybook.clients.profiles.redactProfile(redacted, testCall);
    expect((await api.get(pathOf(unmerged))).body.error.code).toBe("download_expired");
  });
});

describe("a client", () => {
  test("that reads slowly gets all, and one that stops is cut, and its place is free again", async () => {
    const { api, id } = await largePerson();
    const [slow, stuck] = [await openDownload(api, id), await openDownload(api, id)];
    const busy = await api.get(pathOf(id));
    expect(busy.body.error).toMatchObject({ code: "rate_limited", message: expect.stringContaining("2 downloads") });
    // Slow enough for it to last longer than an answer may stand still.
    for (let turn = 0; !slow.isWhole() && !slow.socket.destroyed; turn++) {
      slow.readSome();
      await sleep(turn % 4 === 0 ? 40 : 8);
    }
    expect(slow.isWhole()).toBe(true);
    slow.socket.destroy();
    await eventually(async () => ((await api.get(pathOf(id))).status === 200 ? true : undefined));
    await stuck.readToEnd();
    expect(stuck.isWhole()).toBe(false);
    // Both places are free again.
    const again = await Promise.all([1, 2].map(() => api.get(pathOf(id))));
    expect(again.map(({ status }) => status)).toEqual([200, 200]);
  });

  test("sees that the person is erased while it reads, and is answered 410 from then on", async () => {
    const { api, profileId, id } = await largePerson();
    const download = await openDownload(api, id);
    await askPrivacy(api, { type: "erasure", profile_id: profileId });
    await eventually(async () => ((await api.get(pathOf(id))).status === 410 ? true : undefined));
    const text = await download.readToEnd();
    // Without the last chunk no client takes the answer for a whole one.
    expect([download.isWhole(), text.endsWith("0\r\n\r\n"), text.length > 0]).toEqual([false, false, true]);
  });
});

describe("a person with 100,000 events", () => {
  test("is streamed in bounded memory, and a gateway that is killed shows in the file", async () => {
    const api = await daybook.newProperty();
    const { id: profileId } = await newProfile(api);
    for (let part = 0; part < 10; part++) await fill(api, profileId, 10_000, 1_500);
    const id = await askAccess(api, { profile_id: profileId });
    // A heap that is smaller than the stream: a gateway that kept the pages would end.
    const env = { NODE_OPTIONS: "--max-old-space-size=160" };
    const gateway = await startGateway(await serveServices(daybook, owner), owner, env);
    const { file, saved } = await save(api, id, "large.ndjson", gateway.baseUrl, "identity");
    expect(await saved).toBe(true);
    const { size } = await stat(file);
    expect(size).toBeGreaterThan(150 * mebibyte);
    const verdict = await verify(file, folder);
    expect(verdict).toEqual({ code: 0, text: expect.stringMatching(/^whole.*event: 10000[01]/s) });

    const cut = await save(api, id, "cut.ndjson", gateway.baseUrl, "identity");
    await eventually(async () => ((await stat(cut.file)).size > mebibyte ? true : undefined));
    gateway.child.kill("SIGKILL");
    expect(await cut.saved).toBe(false);
    expect((await verify(cut.file, folder)).code).toBe(1);
  }, 240_000);
});
