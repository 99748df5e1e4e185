/**
 * Processes are killed at any instant between claim and response, and clients ask again: each write is done once, and
 * is answered the same.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, inject, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createApi, type Answer, type Api } from "../support/api.ts";
import { createDatabase } from "../support/database.ts";
import { connectTo } from "../support/daybook.ts";
import { startKillableMesh, type ProcessName } from "../support/mesh.ts";
import { startNats } from "../support/nats.ts";
import { eventually } from "../support/processes.ts";
import { pick, random } from "../support/random.ts";

const owner = new Owner();
afterAll(() => owner.close());

// KILLS=200 takes some minutes.
const kills = Number(process.env.KILLS ?? 25);
const killers = 3;
const clients = 12;
// More than half of them where most is on the way.
const victims: readonly ProcessName[] = ["gateway", "gateway2", "profile", "event", "event", "identity", "metric"];
// Longer than all kills: on a busy machine a restart takes ten seconds, so that most of the time some process is away.
const answerTimeoutMs = 300_000;

/** Writes that were answered for good. */
let answered = 0;

/** Sends a write until it is answered for good, to whichever gateway, and then once more: both answers are the same. */
async function once(ways: readonly Api[], method: "POST" | "PATCH" | "DELETE", path: string, body?: unknown) {
  const key = randomUUID();
  const seen: string[] = [];
  const ask = async (): Promise<Answer | undefined> => {
    const api = pick(ways);
    const answer = await api
      .request(method, path, {
        headers: { "idempotency-key": key, ...(body ? { "content-type": "application/json" } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      // The connection broke, or nobody listens.
      .catch((error: unknown) => void seen.push(String(error)));
    if (answer) seen.push(`${answer.status} ${answer.text}`);
    if (answer && answer.status < 500 && !answer.text.includes("idempotency_key_in_use")) return answer;
    await sleep(random(100));
    return undefined;
  };
  const limits = {
    timeoutMs: answerTimeoutMs,
    explain: () => `${method} ${path} was never answered: ${seen.slice(-20).join("\n")}`,
  };
  const answer = await eventually(ask, limits);
  answered++;
  const about = `${method} ${path}: ${answer.text}`;
  expect([about, answer.status < 300]).toEqual([about, true]);
  const again = await eventually(ask, limits);
  const idOf = ({ headers }: Answer): string => headers.get("x-request-id") ?? "";
  expect([again.status, again.text.replace(idOf(again), "")]).toEqual([
    answer.status,
    answer.text.replace(idOf(answer), ""),
  ]);
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  return answer;
}

/** What was written, by names that no two writes share. */
interface Written {
  /** The id of each event, by its name. */
  events: Map<string, string>;
  /** The id of each profile that was made and not merged away, by its email. */
  profiles: Map<string, string>;
  metrics: Set<string>;
  /** Events that were given to jobs. */
  jobs: Set<string>;
}

const emailOf = (name: string): { type: string; value: string } => ({ type: "email", value: `${name}@example.com` });
const newName = (): string => `n${randomUUID().replaceAll("-", "")}`;

/** Each of them fails when it is done twice, or leaves two of something. */
const kinds: ((ways: readonly Api[], written: Written) => Promise<void>)[] = [
  async (ways, { events }) => {
    const name = newName();
    const body = { type: "crash.single", identifier: emailOf(newName()), properties: { name } };
    events.set(name, (await once(ways, "POST", "/v1/events", body)).body.data.id);
  },
  async (ways, { events }) => {
    const names = [newName(), newName(), newName()];
    const items = names.map((name) => ({ type: "crash.batch", identifier: emailOf(name), properties: { name } }));
    const { body } = await once(ways, "POST", "/v1/events/batch", { events: items });
    for (const [index, name] of names.entries()) {
      expect(body.data.results[index].status).toBe(201);
      events.set(name, body.data.results[index].data.id);
    }
  },
  async (ways, { profiles }) => {
    const [name, other, third] = [newName(), newName(), newName()];
    const made = await once(ways, "POST", "/v1/profiles", { identifiers: [emailOf(name)] });
    const path = `/v1/profiles/${made.body.data.id}`;
    profiles.set(emailOf(name).value, made.body.data.id);
    const added = await once(ways, "POST", `${path}/identifiers`, emailOf(other));
    expect(added.status).toBe(201);
    await once(ways, "DELETE", `${path}/identifiers/${added.body.data.id}`);
    const upserted = await once(ways, "POST", "/v1/profiles/upsert", { identifiers: [emailOf(third)] });
    expect(upserted.status).toBe(201);
    await once(ways, "POST", `${path}/merge`, { source_profile_id: upserted.body.data.id });
  },
  async (ways, { profiles }) => {
    const names = [newName(), newName()];
    const body = { profiles: names.map((name) => ({ identifiers: [emailOf(name)] })) };
    const { body: answer } = await once(ways, "POST", "/v1/profiles/batch", body);
    for (const [index, name] of names.entries()) {
      expect(answer.data.results[index].status).toBe(201);
      profiles.set(emailOf(name).value, answer.data.results[index].data.id);
    }
  },
  async (ways, { events }) => {
    const name = newName();
    const profile = { data: { type: "profile", attributes: { external_id: newName(), first_name: name } } };
    const metric = { data: { type: "metric", attributes: { name: "Crash Compat" } } };
    const body = { data: { type: "event", attributes: { metric, profile, properties: { name } } } };
    events.set(name, (await once(ways, "POST", "/api/events", body)).body.data.id);
  },
  async (ways, { jobs }) => {
    const names = [newName(), newName()];
    const metric = { data: { type: "metric", attributes: { name: "Crash Job" } } };
    const data = names.map((name) => ({
      type: "event-bulk-create",
      attributes: {
        profile: { data: { type: "profile", attributes: { email: `${name}@example.com`, first_name: name } } },
        events: { data: [{ type: "event", attributes: { metric, properties: { name } } }] },
      },
    }));
    const job = { data: { type: "event-bulk-create-job", attributes: { "events-bulk-create": { data } } } };
    await once(ways, "POST", "/api/event-bulk-create-jobs", job);
    for (const name of names) jobs.add(name);
  },
  async (ways, { metrics }) => {
    const name = `crash.${newName()}`;
    const made = await once(ways, "POST", "/v1/metrics", { name });
    await once(ways, "PATCH", `/v1/metrics/${made.body.data.id}`, { description: name });
    metrics.add(name);
  },
];

interface Resource {
  id: string;
  type: string;
  name: string;
  description: string;
  properties: { name: string };
}

/** All of a list. */
async function readAll(api: Api, path: string): Promise<Resource[]> {
  const found: Resource[] = [];
  for (let after = ""; ;) {
    const { body } = await api.get(`${path}&page[limit]=500${after}`);
    found.push(...body.data);
    if (!body.meta.page.has_more) return found;
    after = `&page[after]=${body.meta.page.next_cursor}`;
  }
}

test("nothing is lost and nothing doubled, whoever is killed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "daybook-crash-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  const { url: natsUrl } = owner.own(await startNats(folder));
  const { url: databaseUrl } = owner.own(await createDatabase(inject("databaseUrl")));
  const mesh = await startKillableMesh({ databaseUrl, natsUrl }, owner, ["gateway2"]);
  const api = await connectTo(mesh.addresses).newProperty();
  const ways = [mesh.addresses.gatewayUrl, mesh.secondGatewayUrl].map((url) => createApi(url, api.secret));
  const written: Written = { events: new Map(), profiles: new Map(), metrics: new Set(), jobs: new Set() };

  const over = new AbortController();
  const writing = Array.from({ length: clients }, async () => {
    while (!over.signal.aborted) await pick(kinds)(ways, written);
  });
  let killed = 0;
  const down = new Set<ProcessName>();
  // However slow the machine, enough is on its way for this to say something.
  const isOver = (): boolean => killed >= kills && Math.min(written.events.size, written.profiles.size) > kills / 2;
  const killing = Array.from({ length: killers }, async () => {
    while (!isOver()) {
      await sleep(random(300));
      const victim = pick(victims);
      if (down.has(victim)) continue;
      killed++;
      down.add(victim);
      await mesh.restart(victim);
      down.delete(victim);
      // On a slow machine somebody would always be down.
      const before = answered;
      await eventually(async () => (answered > before || over.signal.aborted ? true : undefined), {
        timeoutMs: answerTimeoutMs,
        explain: () => "no write comes through",
      });
    }
  });
  // Whatever fails first ends the test.
  await Promise.race([Promise.all(killing), Promise.all(writing)]);
  over.abort();
  await Promise.all(writing);

  const [first] = ways as [Api];
  for (const type of ["crash.single", "crash.batch", "crash.compat"]) {
    const found = await readAll(first, `/v1/events?filter[type]=${type}`);
    const names = found.map(({ properties }) => properties.name);
    expect(new Set(names).size).toBe(names.length);
    for (const { id, properties } of found) expect(written.events.get(properties.name)).toBe(id);
  }
  const ofJobs = await eventually(
    async () => {
      const found = await readAll(first, "/v1/events?filter[type]=crash.job");
      return found.length >= written.jobs.size ? found : undefined;
    },
    { timeoutMs: answerTimeoutMs },
  );
  expect(ofJobs.map(({ properties }) => properties.name).toSorted()).toEqual([...written.jobs].toSorted());
  const all = await readAll(first, "/v1/events?filter[source]=api");
  const events = all.filter(({ type }) => type !== "crash.job");
  expect(events.map(({ id }) => id).toSorted()).toEqual([...written.events.values()].toSorted());
  for (const [email, id] of written.profiles) {
    const { body } = await first.get(`/v1/profiles?filter[email]=${email}`);
    expect(body.data.map((profile: { id: string }) => profile.id)).toEqual([id]);
  }
  const metrics = await readAll(first, "/v1/metrics?filter[system]=false");
  const registered = metrics.filter(({ name }) => written.metrics.has(name));
  expect(registered.map(({ description }) => description).toSorted()).toEqual([...written.metrics].toSorted());
}, 600_000);
