/**
 * Jobs outlive the processes that do them: a bulk import and a bulk recording, whose services are killed again and
 * again meanwhile.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, inject, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { connectTo, type TestProperty } from "../support/daybook.ts";
import { createDatabase } from "../support/database.ts";
import { startKillableMesh } from "../support/mesh.ts";
import { startNats } from "../support/nats.ts";
import { eventually } from "../support/processes.ts";
import { random } from "../support/random.ts";

const owner = new Owner();
afterAll(() => owner.close());

const profilesCount = 2_000;
const eventsCount = 1_000;
const killsMax = 5;

/** Everything of a list, page after page. */
async function readAll(
  api: TestProperty,
  path: string,
): Promise<{ id: string; attributes: Record<string, unknown> }[]> {
  const { body } = await api.get(path);
  const next: string | null = body.links.next;
  return next === null
    ? body.data
    : [...body.data, ...(await readAll(api, new URL(next).pathname + new URL(next).search))];
}

test("each profile of an import that is killed halfway is written once, and each event of a job is recorded once", async () => {
  const folder = await mkdtemp(join(tmpdir(), "daybook-killed-import-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  const { url: natsUrl } = owner.own(await startNats(folder));
  const { url: databaseUrl } = owner.own(await createDatabase(inject("databaseUrl")));
  const mesh = await startKillableMesh({ databaseUrl, natsUrl }, owner);
  const api = await connectTo(mesh.addresses).newProperty();

  const emails = Array.from({ length: profilesCount }, (_, index) => `killed${index}@example.com`);
  const profiles = emails.map((email, index) => ({
    type: "profile",
    attributes: { email, properties: { index } },
    meta: { patch_properties: { append: { list: index } } },
  }));
  const job = await api.post("/api/profile-bulk-import-jobs", {
    data: { type: "profile-bulk-import-job", attributes: { profiles: { data: profiles } } },
  });
  expect(job.status).toBe(202);
  const entries = emails.slice(0, eventsCount).map((email, index) => ({
    type: "event-bulk-create",
    attributes: {
      profile: { data: { type: "profile", attributes: { email, first_name: "Killed" } } },
      events: {
        data: [
          {
            type: "event",
            attributes: { properties: { index }, metric: { data: { type: "metric", attributes: { name: "Killed" } } } },
          },
        ],
      },
    },
  }));
  const recording = await api.post("/api/event-bulk-create-jobs", {
    data: { type: "event-bulk-create-job", attributes: { "events-bulk-create": { data: entries } } },
  });
  expect(recording.status).toBe(202);

  const path = `/api/profile-bulk-import-jobs/${job.body.data.id}`;
  const attributesOf = async () => (await api.get(path)).body.data?.attributes;
  for (let kill = 0; kill < killsMax && (await attributesOf())?.status !== "complete"; kill++) {
    await sleep(random(200));
    await Promise.all([mesh.restart("profile"), mesh.restart("event")]);
  }
  const done = await eventually(
    async () => {
      const attributes = await attributesOf();
      return attributes?.status === "complete" ? attributes : undefined;
    },
    { timeoutMs: 100_000 },
  );
  expect(done).toMatchObject({ total_count: profilesCount, completed_count: profilesCount, failed_count: 0 });

  const written = await readAll(api, "/api/profiles?page[size]=100&sort=id&fields[profile]=email,properties");
  expect(written).toHaveLength(profilesCount);
  expect(new Set(written.map(({ attributes }) => attributes.email))).toEqual(new Set(emails));
  for (const { attributes } of written) {
    const { index } = attributes.properties as { index: number };
    expect(attributes.properties).toEqual({ index, list: [index] });
  }
  expect(await readAll(api, `${path}/profiles?page[size]=100&fields[profile]=email`)).toHaveLength(profilesCount);

  const metric = await eventually(async () => (await api.get("/v1/metrics?filter[name]=killed")).body.data[0], {
    timeoutMs: 100_000,
  });
  const events = await eventually(
    async () => {
      const found = await readAll(
        api,
        `/api/events?page[size]=1000&filter=equals(metric_id,"${metric.id}")&fields[event]=event_properties`,
      );
      return found.length >= eventsCount ? found : undefined;
    },
    { timeoutMs: 100_000 },
  );
  const indexes = events.map(({ attributes }) => (attributes.event_properties as { index: number }).index);
  expect(indexes.toSorted((one, other) => one - other)).toEqual(
    Array.from({ length: eventsCount }, (_, index) => index),
  );
}, 400_000);
