/**
 * Import jobs: every item is written once or refused with its reason, whoever writes to the same profiles and whatever
 * is killed meanwhile.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import pg from "pg";
import { afterAll, expect, inject, test } from "vitest";
import {
  ImportJobStatus,
  type ImportError,
  type ImportItemSchema,
  type ImportJob,
  type Profile,
  type UpsertProfileRequestSchema,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { systemClock } from "#shared/values/clock.ts";
import { decodeId, newId } from "#shared/values/ids.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { openDatabase } from "#shared/database/postgres.ts";
import { fromTimestamp } from "#shared/values/time.ts";
import { forgetJobs } from "#shared/jobs/jobs.ts";
import { importJobs } from "../../services/profile/imports.ts";
import { createDatabase } from "../support/database.ts";
import { connectTo, describeEverywhere, testCall, type TestDaybook } from "../support/daybook.ts";
import { startKillableMesh } from "../support/mesh.ts";
import { repeatMessages, startNats } from "../support/nats.ts";
import { eventually } from "../support/processes.ts";
import { random } from "../support/random.ts";

type Item = MessageInitShape<typeof ImportItemSchema>;
type Upsert = MessageInitShape<typeof UpsertProfileRequestSchema>;

const email = (value: string) => ({ type: "email", value });
const upsertOf = (value: Upsert): Item => ({
  write: { case: "upsert", value: { source: "import", ...value } as Upsert },
  originalJson: JSON.stringify({ original: value.identifiers?.[0]?.value }),
});
const person = (name: string, attributes: object = {}): Item =>
  upsertOf({ identifiers: [email(`${name}@example.com`)], attributesJson: JSON.stringify(attributes) });

async function begin(daybook: TestDaybook, propertyId: string, items: Item[], jobId = newId("job")): Promise<string> {
  const { job } = await daybook.clients.profiles.createImportJob({ propertyId, jobId, items }, testCall);
  expect(job).toMatchObject({ id: jobId, totalCount: items.length });
  return jobId;
}

function finished(daybook: TestDaybook, propertyId: string, jobId: string, timeoutMs = 60_000): Promise<ImportJob> {
  return eventually(
    async () => {
      const { job } = await daybook.clients.profiles.getImportJob({ propertyId, jobId }, testCall);
      return job?.status === ImportJobStatus.COMPLETE ? job : undefined;
    },
    { timeoutMs, explain: () => "the job is not complete" },
  );
}

async function profilesOf(daybook: TestDaybook, propertyId: string, jobId: string): Promise<Profile[]> {
  const all: Profile[] = [];
  for (let after: string | undefined, hasMore = true; hasMore;) {
    const request = { propertyId, jobId, limit: 300, ...(after === undefined ? {} : { afterProfileId: after }) };
    const page = await daybook.clients.profiles.listImportedProfiles(request, testCall);
    all.push(...page.profiles);
    after = page.lastProfileId;
    ({ hasMore } = page);
  }
  return all;
}

async function errorsOf(daybook: TestDaybook, propertyId: string, jobId: string): Promise<ImportError[]> {
  const all: ImportError[] = [];
  for (let after: number | undefined, hasMore = true; hasMore;) {
    const request = { propertyId, jobId, limit: 2, ...(after === undefined ? {} : { afterItem: after }) };
    const page = await daybook.clients.profiles.listImportErrors(request, testCall);
    all.push(...page.errors);
    after = page.errors.at(-1)?.item;
    ({ hasMore } = page);
  }
  return all;
}

async function query(daybook: TestDaybook, text: string, values: unknown[]): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: daybook.databaseUrl });
  await client.connect();
  try {
    return (await client.query<object>(text, values)).rows;
  } finally {
    await client.end();
  }
}

describeEverywhere("import jobs", (daybook) => {
  test("write each item, in order, and say of each that is refused why", async () => {
    const { propertyId } = await daybook().newProperty();
    const { profiles } = daybook().clients;
    const make = async (value: string) => {
      const request = { propertyId, identifiers: [email(value)], source: "test" };
      return (await profiles.createProfile(request, testCall)).profile?.id ?? "";
    };
    const [known, other] = [await make("known@example.com"), await make("other@example.com")];
    const update = (profileId: string, identifiers: { type: string; value: string }[]): Item => ({
      write: {
        case: "update",
        value: { profileId, identifiers, attributesJson: '{"updated":true}', source: "import" },
      },
      originalJson: JSON.stringify({ profileId }),
    });
    const both = [email("known@example.com"), email("other@example.com")];
    const items = [
      ...Array.from({ length: 430 }, (_, index) => person(`p${index}`, { index })),
      person("p7", { index: "later" }),
      update(known, [{ type: "external_id", value: "known" }]),
      update(known, [email("other@example.com")]),
      update(newId("prof"), []),
      upsertOf({ identifiers: both }),
      upsertOf({ identifiers: both, preferFirst: true, attributesJson: '{"first":1}' }),
      upsertOf({ identifiers: [{ type: "phone", value: "1" }] }),
      upsertOf({}),
    ];
    const before = systemClock.nowMicros();
    const jobId = await begin(daybook(), propertyId, items);
    const job = await finished(daybook(), propertyId, jobId);
    expect([job.completedCount, job.failedCount, job.totalCount]).toEqual([433, 5, 438]);
    const times = [job.createdAt, job.startedAt, job.completedAt].map((at) => (at ? fromTimestamp(at) : 0));
    expect([before - 1000, ...times]).toEqual([before - 1000, ...times].toSorted((a, b) => a - b));

    const errors = await errorsOf(daybook(), propertyId, jobId);
    expect(errors.map(({ item, error }) => [item, error?.code, error?.param])).toEqual([
      [432, "identity_conflict", "identifiers.0"],
      [433, "resource_not_found", "profile_id"],
      [434, "identity_conflict", "identifiers.0"],
      [436, "parameter_invalid", "identifiers.0.value"],
      [437, "parameter_missing", "identifiers"],
    ]);
    expect(errors.map(({ originalJson }) => originalJson)).toEqual(
      [432, 433, 434, 436, 437].map((at) => items[at]?.originalJson),
    );
    const written = await profilesOf(daybook(), propertyId, jobId);
    expect(written.map(({ id }) => id)).toEqual(written.map(({ id }) => id).toSorted());
    expect(written).toHaveLength(431);
    const attributesOf = (value: string) =>
      written.find(({ identifiers }) => identifiers.some((one) => one.value === value))?.attributesJson;
    expect(attributesOf("p7@example.com")).toBe('{"index":"later"}');
    expect(attributesOf("p429@example.com")).toBe('{"index":429}');
    expect(attributesOf("known")).toBe('{"updated":true,"first":1}');
    expect(written.map(({ id }) => id)).not.toContain(other);
    // Nothing more is kept of what was written.
    const held = `SELECT FROM profile.import_chunks WHERE job_id = $1 AND payload IS NOT NULL`;
    expect(await query(daybook(), held, [decodeId("job", jobId, "")])).toEqual([]);
    const again = await profiles.createImportJob({ propertyId, jobId, items: [person("p1")] }, testCall);
    expect(again.job).toEqual(job);
  });

  test("two on the same profiles make each profile once, and every item counts", async () => {
    const { propertyId } = await daybook().newProperty();
    const items = (job: number): Item[] =>
      Array.from({ length: 500 }, (_, index) => person(`p${(index * 7 + job * 31) % 250}`, { [`job${job}`]: index }));
    const jobs = await Promise.all([0, 1, 2].map((job) => begin(daybook(), propertyId, items(job))));
    const ids: string[][] = [];
    for (const jobId of jobs) {
      const job = await finished(daybook(), propertyId, jobId);
      expect([job.completedCount, job.failedCount]).toEqual([500, 0]);
      const written = await profilesOf(daybook(), propertyId, jobId);
      ids.push(written.map(({ id }) => id));
    }
    expect(ids[0]).toHaveLength(250);
    expect(ids[1]).toEqual(ids[0]);
    expect(ids[2]).toEqual(ids[0]);
    const [written] = await profilesOf(daybook(), propertyId, jobs[0] ?? "");
    expect(Object.keys(JSON.parse(written?.attributesJson ?? "")).toSorted()).toEqual(["job0", "job1", "job2"]);
  });

  test("are listed in both directions and by state, and belong to their property", async () => {
    const { propertyId } = await daybook().newProperty();
    const jobs: string[] = [];
    for (let index = 0; index < 5; index++) jobs.push(await begin(daybook(), propertyId, [person(`p${index}`)]));
    for (const jobId of jobs) await finished(daybook(), propertyId, jobId);
    const { profiles } = daybook().clients;
    const first = await profiles.listImportJobs({ propertyId, limit: 3 }, testCall);
    expect([first.jobs.map(({ id }) => id), first.hasMore]).toEqual([jobs.toReversed().slice(0, 3), true]);
    const rest = await profiles.listImportJobs({ propertyId, limit: 3, afterJobId: first.jobs[2]?.id ?? "" }, testCall);
    expect([rest.jobs.map(({ id }) => id), rest.hasMore]).toEqual([jobs.toReversed().slice(3), false]);
    const { COMPLETE, PROCESSING, QUEUED } = ImportJobStatus;
    const list = async (statuses: ImportJobStatus[]) =>
      (await profiles.listImportJobs({ propertyId, limit: 500, ascending: true, statuses }, testCall)).jobs.length;
    expect([await list([COMPLETE]), await list([PROCESSING, QUEUED])]).toEqual([5, 0]);
    const stranger = await daybook().newProperty();
    const name = { propertyId: stranger.propertyId, jobId: jobs[0] ?? "", limit: 1 };
    for (const read of ["getImportJob", "listImportedProfiles", "listImportErrors"] as const) {
      await expect(profiles[read](name, testCall)).rejects.toMatchObject({
        code: "resource_not_found",
      });
    }
  });

  test("overwrite nothing that others wrote while a chunk that was cut short comes again", async () => {
    const { propertyId } = await daybook().newProperty();
    const { clients, databaseUrl } = daybook();
    const people = ["cut1", "cut2", "cut3"];
    const jobId = newId("job");
    const upsert = { propertyId, identifiers: [email("cut1@example.com")], source: "test" };
    const { profile: first } = await clients.profiles.upsertProfile(upsert, testCall);
    const begun = new pg.Client(databaseUrl);
    const ending = new pg.Client(databaseUrl);
    const waiting = "SELECT pid FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))";
    const waitsFor = (blocking: pg.Client): Promise<number> =>
      eventually(async () => (await blocking.query<{ pid: number }>(waiting)).rows[0]?.pid);
    let profileId: string;
    try {
      // Each lock is on a row of this job alone, so that no other test's job waits for it.
      await Promise.all([begun.connect(), ending.connect()]);
      await begun.query("BEGIN");
      await begun.query("SELECT FROM profile.profiles WHERE id = $1 FOR UPDATE", [
        decodeId("prof", first?.id ?? "", ""),
      ]);
      const items = people.map((name) => person(name, { plan: "pro" }));
      await begin(daybook(), propertyId, items, jobId);
      await waitsFor(begun);
      // The chunk's items can be written, and that it is done cannot be.
      await ending.query("BEGIN");
      await ending.query("SELECT FROM profile.import_jobs WHERE id = $1 FOR UPDATE", [decodeId("job", jobId, "")]);
      await begun.query("COMMIT");
      const pid = await waitsFor(ending);
      const identifiers = [email("cut2@example.com")];
      const { profiles } = await clients.profiles.listProfiles({ propertyId, identifiers, limit: 1 }, testCall);
      profileId = profiles[0]?.id ?? "";
      await clients.profiles.updateProfile({ propertyId, profileId, attributesJson: '{"plan":"free"}' }, testCall);
      await ending.query("SELECT pg_terminate_backend($1)", [pid]);
    } finally {
      await Promise.all([begun.end(), ending.end()]);
    }
    expect(await finished(daybook(), propertyId, jobId)).toMatchObject({ completedCount: 3, failedCount: 0 });
    const { profiles } = await clients.profiles.getProfiles({ propertyId, profileIds: [profileId] }, testCall);
    expect(profiles[0]).toMatchObject({ attributesJson: '{"plan":"free"}', version: 2n });
    expect((await profilesOf(daybook(), propertyId, jobId)).length).toBe(3);
  });

  test("keep nothing of a person who is redacted of what they refused", async () => {
    const { propertyId } = await daybook().newProperty();
    const { clients } = daybook();
    const phone = { type: "phone", value: "+442079460099" };
    const card = { type: "card", value: 'Nr. "7"' };
    const upsert = { propertyId, identifiers: [email("gone@example.com"), phone, card], source: "test" };
    const { profile } = await clients.profiles.upsertProfile(upsert, testCall);
    await clients.profiles.upsertProfile(
      { propertyId, identifiers: [email("stays@example.com")], source: "test" },
      testCall,
    );
    // Each names the two of them, and so is refused; what came of it is told as it was sent.
    const refusedItem = (original: object): Item => ({
      ...upsertOf({ identifiers: [email("gone@example.com"), email("stays@example.com")] }),
      originalJson: JSON.stringify(original),
    });
    const job = await begin(daybook(), propertyId, [
      refusedItem({ email: " Gone@Example.com " }),
      refusedItem({ phone_number: "+44 (20) 7946-0099" }),
      refusedItem({ properties: { note: 'has card nr. "7"' } }),
      refusedItem({ email: "stays@example.com" }),
    ]);
    await finished(daybook(), propertyId, job);
    await clients.profiles.redactProfile({ propertyId, profileId: profile?.id ?? "" }, testCall);
    const kept = (await errorsOf(daybook(), propertyId, job)).map(({ originalJson }) => originalJson);
    expect(kept).toEqual(["{}", "{}", "{}", JSON.stringify({ email: "stays@example.com" })]);
  });

  test("are limited", async () => {
    const { propertyId } = await daybook().newProperty();
    const refused = (items: Item[]) => begin(daybook(), propertyId, items).catch((error: unknown) => error);
    const tooMany = Array.from({ length: 10_001 }, () => person("p"));
    expect(await refused(tooMany)).toMatchObject({ code: "too_many_items", param: "items" });
    expect(await refused([])).toMatchObject({ code: "parameter_missing" });
    expect(await refused([{ originalJson: "{}" }])).toMatchObject({ code: "parameter_missing", param: "items.0" });
    const large = Array.from({ length: 155 }, () => ({ ...person("p"), originalJson: "x".repeat(100 * 1024) }));
    expect(await refused(large)).toMatchObject({ code: "request_too_large" });
    const insert = `INSERT INTO profile.import_jobs (property_id, id, total_count, created_at)
      SELECT $1, gen_random_uuid(), 1, now() FROM generate_series(1, 100)`;
    await query(daybook(), insert, [decodeId("prop", propertyId, "")]);
    expect(await refused([person("p")])).toMatchObject({
      code: "rate_limited",
      retryAfterMs: 10_000,
      message: expect.stringContaining("100 import jobs"),
    });
  });

  test("are forgotten with all that is kept of them", async () => {
    const owner = new Owner();
    const log = createLog("test", "silent");
    const database = openDatabase({ url: daybook().databaseUrl, applicationName: "test", connectionsMax: 1, log });
    owner.defer(() => database.end());
    try {
      const { propertyId } = await daybook().newProperty();
      const jobId = await begin(daybook(), propertyId, [person("p"), upsertOf({})]);
      const kept = await begin(daybook(), propertyId, [person("p")]);
      for (const id of [jobId, kept]) await finished(daybook(), propertyId, id);
      const job = decodeId("job", jobId, "");
      await database.query("UPDATE profile.import_jobs SET created_at = now() - interval '8 days' WHERE id = $1", [
        job,
      ]);
      const { profiles } = daybook().clients;
      const gone = profiles.getImportJob({ propertyId, jobId }, testCall);
      await expect(gone).rejects.toMatchObject({ code: "resource_not_found" });
      await forgetJobs({ database, clock: systemClock }, importJobs, new AbortController().signal);
      for (const table of ["import_chunks", "import_profiles", "import_errors"]) {
        const { rowCount } = await database.query(`SELECT FROM profile.${table} WHERE job_id = $1`, [job]);
        expect([table, rowCount]).toEqual([table, 0]);
      }
      const list = await profiles.listImportJobs({ propertyId, limit: 10 }, testCall);
      expect(list.jobs.map(({ id }) => id)).toEqual([kept]);
      expect(await profilesOf(daybook(), propertyId, kept)).toHaveLength(1);
    } finally {
      await owner.close();
    }
  });
});

const owner = new Owner();
afterAll(() => owner.close());

test(
  "jobs are done exactly while their messages come again and who does them is killed",
  { timeout: 180_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "daybook-import-jobs-"));
    owner.defer(() => rm(folder, { recursive: true, force: true }));
    const { url: natsUrl } = owner.own(await startNats(folder));
    const { url: databaseUrl } = owner.own(await createDatabase(inject("databaseUrl")));
    const mesh = await startKillableMesh({ databaseUrl, natsUrl }, owner);
    const daybook = connectTo(mesh.addresses);
    const { propertyId } = await daybook.newProperty();
    const stopRepeating = await repeatMessages(natsUrl, "daybook.profile.import_due", 4);
    const items = Array.from({ length: 6000 }, (_, index) =>
      index % 100 === 99 ? upsertOf({}) : person(`p${index}`, { index }),
    );
    const jobs = [await begin(daybook, propertyId, items), await begin(daybook, propertyId, items.slice(0, 3000))];
    for (let kill = 0; kill < 4; kill++) {
      await sleep(random(400));
      await mesh.restart("profile");
    }
    const [long, short] = [
      await finished(daybook, propertyId, jobs[0] ?? "", 120_000),
      await finished(daybook, propertyId, jobs[1] ?? ""),
    ];
    await stopRepeating();
    expect([long.completedCount, long.failedCount]).toEqual([5940, 60]);
    expect([short.completedCount, short.failedCount]).toEqual([2970, 30]);
    const written = await profilesOf(daybook, propertyId, long.id);
    expect(written).toHaveLength(5940);
    // Made, and never changed: the second job and every repeat wrote what was there.
    expect(written.filter(({ version }) => version !== 1n)).toEqual([]);
    expect(await profilesOf(daybook, propertyId, short.id)).toHaveLength(2970);
    const [{ count } = { count: -1 }] = (await query(
      daybook,
      "SELECT count(*)::integer AS count FROM profile.profiles",
      [],
    )) as {
      count: number;
    }[];
    expect(count).toBe(5940);
  },
);
