/**
 * Idempotency-Key on the compatibility surface: each write is done once, however often and by however many it is sent.
 */
import pg from "pg";
import { expect, test } from "vitest";
import { decodeId } from "#shared/values/ids.ts";
import type { Answer, Api } from "../support/api.ts";
import { describeEverywhere, describeOnce, testCall } from "../support/daybook.ts";
import { keyed, promiseOnce, sendUntilDone, type Write } from "../support/idempotency.ts";
import { eventually } from "../support/processes.ts";

const metric = { data: { type: "metric", attributes: { name: "Placed Order" } } };
const personOf = (attributes: object): object => ({ data: { type: "profile", attributes } });
const eventOf = (profile: object, more: object = {}): object => ({
  data: { type: "event", attributes: { metric, profile: personOf(profile), properties: { a: 1 }, ...more } },
});
const bulk = {
  data: {
    type: "event-bulk-create-job",
    attributes: {
      "events-bulk-create": {
        data: ["ada", "bob"].map((name) => ({
          type: "event-bulk-create",
          attributes: {
            profile: personOf({ email: `${name}@example.com`, first_name: name }),
            events: { data: [{ type: "event", attributes: { metric, properties: {} } }] },
          },
        })),
      },
    },
  },
};
const imported = {
  data: {
    type: "profile-bulk-import-job",
    attributes: { profiles: { data: [{ type: "profile", attributes: { email: "ada@example.com" } }] } },
  },
};

async function newProfile(api: Api, name: string): Promise<string> {
  return (await api.post("/api/profiles", personOf({ email: `${name}@example.com` }))).body.data.id;
}

const writes: Write[] = [
  { name: "an event by email", method: "POST", path: () => "/api/events", body: () => eventOf({ email: "a@b.co" }) },
  {
    name: "an event with its profile",
    method: "POST",
    path: () => "/api/events/",
    body: () => eventOf({ external_id: "7", first_name: "Ada", meta: { patch_properties: { append: { tags: "x" } } } }),
  },
  {
    name: "an event of a profile that is named",
    prepare: async (api) => ({ profile: await newProfile(api, "eve") }),
    method: "POST",
    path: () => "/events",
    body: ({ profile }) => ({
      data: {
        type: "event",
        attributes: {
          metric,
          properties: {},
          profile: { data: { type: "profile", id: profile, attributes: { title: "Dr" } } },
        },
      },
    }),
  },
  { name: "a job of events", method: "POST", path: () => "/api/event-bulk-create-jobs", body: () => bulk, leaves: 4 },
  {
    name: "a profile",
    method: "POST",
    path: () => "/api/profiles",
    body: () => personOf({ email: "eve@example.com" }),
  },
  {
    name: "an import that makes a profile",
    method: "POST",
    path: () => "/api/profile-import",
    body: () => personOf({ email: "eve@example.com", properties: { plan: "gold" } }),
  },
  {
    name: "an update",
    prepare: async (api) => ({ profile: await newProfile(api, "eve") }),
    method: "PATCH",
    path: ({ profile }) => `/api/profiles/${profile}`,
    body: ({ profile }) => ({
      data: { type: "profile", id: profile, attributes: { email: "eve.two@example.com", first_name: null } },
    }),
  },
  {
    name: "a merge",
    async prepare(api) {
      return { profile: await newProfile(api, "eve"), source: await newProfile(api, "kim") };
    },
    method: "POST",
    path: () => "/api/profile-merge",
    body: ({ profile, source }) => ({
      data: {
        type: "profile-merge",
        id: profile,
        relationships: { profiles: { data: [{ type: "profile", id: source }] } },
      },
    }),
  },
  {
    name: "an import job",
    method: "POST",
    path: () => "/api/profile-bulk-import-jobs",
    body: () => imported,
    leaves: 1,
  },
];

describeOnce("Idempotency-Key on the compatibility surface", (daybook) => promiseOnce(daybook, writes));

describeEverywhere("Idempotency-Key on the compatibility surface", (daybook) => {
  test("a job that is asked for again and again records each of its events once", async () => {
    const api = await daybook().newProperty();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        sendUntilDone(() => api.post("/api/event-bulk-create-jobs", bulk, keyed("job"))),
      ),
    );
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
    const list = "/v1/events?filter[type]=placed.order";
    await eventually(async () => ((await api.get(list)).body.data.length >= 2 ? true : undefined));
    // Another job after it, so that whatever the first has still to do is done.
    await api.post("/api/event-bulk-create-jobs", bulk);
    await eventually(async () => ((await api.get(list)).body.data.length >= 4 ? true : undefined));
    expect((await api.get(list)).body.data).toHaveLength(4);
  });

  test("refuses keys in its own form", async () => {
    const api = await daybook().newProperty();
    const event = eventOf({ email: "ada@example.com" });
    const bad = await api.post("/api/events", event, keyed("a b"));
    expect([bad.status, bad.body.errors[0].source]).toEqual([400, { header: "Idempotency-Key" }]);
    await api.post("/api/events", event, keyed("k"));
    const reused = await api.post("/api/events", eventOf({ email: "bob@example.com" }), keyed("k"));
    expect([reused.status, reused.body.errors[0].code, reused.body.errors[0].source]).toEqual([
      409,
      "idempotency_key_reused",
      { header: "Idempotency-Key" },
    ]);
  });

  test("nothing is merged when one of several sources cannot be", async () => {
    const api = await daybook().newProperty();
    const [destination, source, redacted] = [
      await newProfile(api, "eve"),
      await newProfile(api, "kim"),
      await newProfile(api, "bob"),
    ];
    const { propertyId } = api;
    await daybook().clients.profiles.redactProfile({ propertyId, profileId: redacted }, testCall);
    const sources = [source, redacted].map((id) => ({ type: "profile", id }));
    const merge = { data: { type: "profile-merge", id: destination, relationships: { profiles: { data: sources } } } };
    const refused = await api.post("/api/profile-merge", merge, keyed("k"));
    expect([refused.status, refused.body.errors[0].source]).toEqual([
      400,
      { pointer: "/data/relationships/profiles/data/1/id" },
    ]);
    expect((await api.get(`/v1/profiles/${source}`)).body.data.status).toBe("active");
  });

  test("a key stays with a request of which something was done", async () => {
    const api = await daybook().newProperty();
    const [destination, source] = [await newProfile(api, "eve"), await newProfile(api, "kim")];
    const other = await newProfile(api, "bob");
    const sources = [source, other].map((id) => ({ type: "profile", id }));
    const merge = { data: { type: "profile-merge", id: destination, relationships: { profiles: { data: sources } } } };
    // While its first step waits, somebody takes away what its second needs.
    const blocking = new pg.Client(daybook().databaseUrl);
    await blocking.connect();
    let first: Promise<Answer>;
    try {
      const held = [decodeId("prof", source, "id")];
      await blocking.query("BEGIN");
      await blocking.query("SELECT FROM profile.profiles WHERE id = $1 FOR UPDATE", held);
      first = api.post("/api/profile-merge", merge, keyed("k"));
      const waiting = "SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))";
      await eventually(async () => ((await blocking.query(waiting)).rowCount ? true : undefined));
      await daybook().clients.profiles.redactProfile({ propertyId: api.propertyId, profileId: other }, testCall);
      await blocking.query("COMMIT");
    } finally {
      await blocking.end();
    }
    expect((await first).status).toBe(400);
    expect((await api.post("/api/profile-merge", merge, keyed("k"))).status).toBe(400);
    const { data } = (await api.get(`/v1/profiles/${source}?resolve=false`)).body;
    expect([data.status, data.merged_into]).toEqual(["merged", destination]);
    const changed = await api.post("/api/profile-merge", JSON.stringify(merge, null, 1), keyed("k"));
    expect([changed.status, changed.body.errors[0].code]).toEqual([409, "idempotency_key_reused"]);
  });
});
