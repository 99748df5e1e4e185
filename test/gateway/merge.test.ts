import pg from "pg";
import { expect, test } from "vitest";
import { decodeId } from "#shared/values/ids.ts";
import { describeEverywhere, testCall, type TestProperty } from "../support/daybook.ts";
import { newEmail, newProfile, type Person } from "../support/people.ts";
import { eventually } from "../support/processes.ts";

const merge = (api: TestProperty, survivor: { path: string }, source: { id: string }) =>
  api.post(`${survivor.path}/merge`, { source_profile_id: source.id });

const toInput = ({ type, value }: { type: string; value: string }) => ({ type, value });

describeEverywhere("merges", (daybook) => {
  test("own values win, and what is lacking comes from the source", async () => {
    const api = await daybook().newProperty();
    const { profiles } = daybook().clients;
    const survivor = await newProfile(api, {
      identifiers: [{ type: "email", value: "ada@example.com", is_primary: true }],
      attributes: { plan: "pro", nested: { a: 1 } },
      location: { city: "Berlin" },
    });
    const source = await newProfile(api, {
      identifiers: [
        { type: "email", value: "ada@work.example", is_primary: true },
        { type: "phone", value: "+15550100123", is_primary: true },
      ],
      attributes: { plan: "free", nested: { b: 2 }, since: 2020 },
      location: { city: "Bonn", country: "DE" },
    });
    for (const [profileId, add] of [
      [survivor.id, ["vip"]],
      [source.id, ["gold", "vip"]],
    ] as const) {
      await profiles.updateTags({ propertyId: api.propertyId, profileId, add: [...add] }, testCall);
    }
    const { status, headers, body } = await merge(api, survivor, source);
    expect(status).toBe(200);
    expect(headers.get("etag")).toBe('"v4"');
    expect(body.meta).not.toHaveProperty("resolved_from");
    expect(body.data).toMatchObject({
      id: survivor.id,
      status: "active",
      attributes: { plan: "pro", nested: { a: 1 }, since: 2020 },
      tags: ["vip", "gold"],
      location: { city: "Berlin", country: "DE" },
      identifier_ids: [...survivor.identifier_ids, ...source.identifier_ids],
    });
    const { identifiers } = (await api.get(`${survivor.path}?expand=identifiers`)).body.data;
    expect(
      identifiers.map((one: { value: string; is_primary: boolean; profile_id: string }) => [
        one.value,
        one.is_primary,
        one.profile_id,
      ]),
    ).toEqual([
      ["ada@example.com", true, survivor.id],
      ["ada@work.example", false, survivor.id],
      ["+15550100123", true, survivor.id],
    ]);
  });

  test("a list of events that names a merged profile is the survivor's, and says so", async () => {
    const api = await daybook().newProperty();
    const people = [await newProfile(api), await newProfile(api), await newProfile(api)] as const;
    for (const { id } of people) await api.post("/v1/events", { type: "a.b", profile_id: id, properties: {} });
    // A chain: every id leads to the last one.
    await merge(api, people[1], people[0]);
    await merge(api, people[2], people[1]);
    const listOf = async (id: string) => (await api.get(`/v1/events?filter[type]=a.b&filter[profile_id]=${id}`)).body;
    const own = await listOf(people[2].id);
    expect([own.data.length, own.meta.resolved_from]).toEqual([3, undefined]);
    for (const { id } of [people[0], people[1]]) {
      const named = await listOf(id.toUpperCase());
      expect(named.data).toEqual(own.data);
      expect(named.meta.resolved_from).toBe(id);
    }
    // Each says for whom it was recorded, newest first.
    const { events: stored } = await daybook().clients.events.listEvents(
      { propertyId: api.propertyId, type: "a.b", profileId: people[2].id, limit: 10 },
      testCall,
    );
    expect(stored.map(({ profileId, recordedFor }) => [profileId, recordedFor])).toEqual([
      [people[2].id, undefined],
      [people[2].id, people[1].id],
      [people[2].id, people[0].id],
    ]);
    // Over the other surface, events and profiles too.
    for (const { id } of people) {
      const events = await api.get(`/api/events?filter=${encodeURIComponent(`equals(profile_id,"${id}")`)}`);
      expect(events.body.data).toHaveLength(3);
      const profiles = await api.get(`/api/profiles?filter=${encodeURIComponent(`equals(id,"${id}")`)}`);
      expect(profiles.body.data.map((one: { id: string }) => one.id)).toEqual([people[2].id]);
    }
  });

  test("a merge that would give more than 1,000 identifiers is refused, and nothing is merged", async () => {
    const api = await daybook().newProperty();
    const [survivor, source] = [await newProfile(api), await newProfile(api)];
    const grow = async (person: Person, to: number): Promise<void> => {
      const { identifiers } = (await api.get(`${person.path}?expand=identifiers`)).body.data;
      for (let count = identifiers.length; count < to;) {
        const more = Array.from({ length: Math.min(90, to - count) }, newEmail);
        const answer = await api.post("/v1/profiles/upsert", { identifiers: [identifiers[0], ...more].map(toInput) });
        expect([answer.status, answer.body.error?.message]).toEqual([200, undefined]);
        count += more.length;
      }
    };
    await grow(survivor, 600);
    await grow(source, 401);
    const refused = await merge(api, survivor, source);
    expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([
      422,
      "too_many_items",
      "source_profile_id",
    ]);
    expect((await api.get(`${source.path}?resolve=false`)).body.data.status).toBe("active");
    const [last] = (await api.get(source.path)).body.data.identifier_ids.slice(-1);
    await api.delete(`${source.path}/identifiers/${last}`);
    const merged = await merge(api, survivor, source);
    expect([merged.status, merged.body.data.identifier_ids.length]).toEqual([200, 1000]);
  });

  test("the merged record is read as the survivor, and as itself when that is asked for", async () => {
    const api = await daybook().newProperty();
    const [survivor, source] = [await newProfile(api), await newProfile(api, { attributes: { a: 1 } })];
    await merge(api, survivor, source);
    const resolved = await api.get(source.path);
    expect(resolved.body.meta.resolved_from).toBe(source.id);
    expect(resolved.body.data).toEqual((await api.get(survivor.path)).body.data);
    // An id may be written in either case; what is said of it is its own form.
    const shouted = await api.get(`/v1/profiles/${source.id.toUpperCase()}`);
    expect(shouted.body.meta.resolved_from).toBe(source.id);
    const itself = await api.get(`${source.path}?resolve=false`);
    expect(itself.body.meta).not.toHaveProperty("resolved_from");
    expect(itself.body.data).toMatchObject({
      id: source.id,
      status: "merged",
      merged_into: survivor.id,
      attributes: {},
      tags: [],
      identifier_ids: [],
      location: null,
    });
    expect(itself.headers.get("etag")).toBe('"v2"');
    const identifiers = await api.get(`${source.path}/identifiers`);
    expect(identifiers.body.data).toHaveLength(2);
    expect(identifiers.body.meta.resolved_from).toBe(source.id);
    expect((await api.get(`${source.path}/identifiers?resolve=false`)).body.data).toEqual([]);
  });

  test("what is written to the merged record is written to the survivor", async () => {
    const api = await daybook().newProperty();
    const [survivor, source] = [await newProfile(api), await newProfile(api)];
    await merge(api, survivor, source);
    const patched = await api.patch(source.path, { attributes: { a: 1 } });
    expect([patched.status, patched.body.data.id, patched.body.meta.resolved_from]).toEqual([
      200,
      survivor.id,
      source.id,
    ]);
    const added = await api.post(`${source.path}/identifiers`, newEmail());
    expect([added.status, added.body.data.profile_id, added.body.meta.resolved_from]).toEqual([
      201,
      survivor.id,
      source.id,
    ]);
    const path = `${source.path}/identifiers/${added.body.data.id}`;
    const promoted = await api.patch(path, { is_primary: true });
    expect([promoted.status, promoted.body.meta.resolved_from]).toEqual([200, source.id]);
    const removed = await api.delete(path);
    expect([removed.status, removed.body.meta.resolved_from]).toEqual([200, source.id]);
    const event = await api.post("/v1/events", { type: "a.b", profile_id: source.id, properties: {} });
    expect([event.status, event.body.data.profile_id, event.body.meta.resolved_from]).toEqual([
      201,
      survivor.id,
      source.id,
    ]);
  });

  test("a version of one record is never one of the other, so that If-Match keeps what nobody has read", async () => {
    const api = await daybook().newProperty();
    const [first, second, third] = [await newProfile(api), await newProfile(api), await newProfile(api)];
    const seen = new Set<string>();
    const versions = async () => {
      for (const { path } of [first, second, third]) {
        seen.add((await api.get(path)).headers.get("etag") ?? "");
        seen.add((await api.get(`${path}?resolve=false`)).headers.get("etag") ?? "");
      }
    };
    for (let turn = 0; turn < 3; turn++) await api.patch(first.path, { attributes: { turn } });
    await versions();
    await merge(api, second, first);
    expect(seen).not.toContain((await api.get(first.path)).headers.get("etag"));
    await versions();
    await merge(api, third, second);
    const stale = [...seen].map((etag) =>
      api.patch(first.path, { attributes: { lost: 1 } }, { headers: { "if-match": etag } }),
    );
    expect(new Set((await Promise.all(stale)).map(({ status }) => status))).toEqual(new Set([412]));
  });

  test("what cannot be merged is refused, and nothing moves", async () => {
    const api = await daybook().newProperty();
    const { profiles } = daybook().clients;
    const [one, two, gone, empty] = [
      await newProfile(api),
      await newProfile(api),
      await newProfile(api),
      await newProfile(api),
    ];
    await merge(api, one, gone);
    await profiles.redactProfile({ propertyId: api.propertyId, profileId: empty.id }, testCall);
    const stranger = await newProfile(await daybook().newProperty());
    const refusal = async (survivor: { path: string }, source: { id: string }) => {
      const { status, body } = await merge(api, survivor, source);
      return [status, body.error?.code, body.error?.param];
    };
    const impossible = "invalid_state_transition";
    expect(await refusal(one, one)).toEqual([422, impossible, "source_profile_id"]);
    expect(await refusal(two, gone)).toEqual([422, impossible, "source_profile_id"]);
    expect(await refusal(gone, two)).toEqual([422, impossible, "id"]);
    expect(await refusal(two, empty)).toEqual([422, impossible, "source_profile_id"]);
    expect(await refusal(empty, two)).toEqual([422, impossible, "id"]);
    expect(await refusal(two, stranger)).toEqual([404, "resource_not_found", "source_profile_id"]);
    expect(await refusal(stranger, two)).toEqual([404, "resource_not_found", "id"]);
    const stale = await api.post(
      `${two.path}/merge`,
      { source_profile_id: one.id },
      { headers: { "if-match": '"v9"' } },
    );
    expect(stale.status).toBe(412);
    expect((await api.get(two.path)).headers.get("etag")).toBe(two.etag);
  });

  test("attributes that are too large together are refused", async () => {
    const api = await daybook().newProperty();
    const large = (key: string) => newProfile(api, { attributes: { [key]: "x".repeat(200 * 1024) } });
    const [one, two] = [await large("a"), await large("b")];
    const { status, body } = await merge(api, one, two);
    expect([status, body.error.code, body.error.param]).toEqual([400, "parameter_invalid", "source_profile_id"]);
    expect((await api.get(two.path)).body.data.status).toBe("active");
  });

  test("a chain ends in one survivor, which every record of it names", async () => {
    const api = await daybook().newProperty();
    const chain: Person[] = [];
    for (let count = 0; count < 5; count++) chain.push(await newProfile(api, { attributes: { [`a${count}`]: count } }));
    for (let at = 1; at < chain.length; at++) {
      const [source, survivor] = [chain[at - 1], chain[at]];
      if (!source || !survivor) throw new Error("the chain is broken");
      expect((await merge(api, survivor, source)).status).toBe(200);
    }
    const last = chain.at(-1)?.id;
    for (const [at, { path, id }] of chain.slice(0, -1).entries()) {
      const { body } = await api.get(path);
      expect([at, body.data.id, body.meta.resolved_from]).toEqual([at, last, id]);
      expect((await api.get(`${path}?resolve=false`)).body.data.merged_into).toBe(last);
    }
    const { data } = (await api.get(`/v1/profiles/${last}`)).body;
    expect(data.attributes).toEqual({ a0: 0, a1: 1, a2: 2, a3: 3, a4: 4 });
    expect(data.identifier_ids).toHaveLength(5);
  });

  test("merges that race in every direction leave one survivor with everything", async () => {
    const api = await daybook().newProperty();
    const people: Person[] = [];
    for (let count = 0; count < 8; count++)
      people.push(await newProfile(api, { attributes: { [`a${count}`]: count } }));
    const pairs = people.flatMap((one) =>
      people.filter((other) => other !== one).map((other) => [one, other] as const),
    );
    const answers = await Promise.all(pairs.map(([one, other]) => merge(api, one, other)));
    const statuses = answers.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 422]));
    expect(statuses.filter((status) => status === 200)).toHaveLength(people.length - 1);
    const reads = await Promise.all(people.map(({ path }) => api.get(path)));
    expect(new Set(reads.map(({ body }) => body.data.id)).size).toBe(1);
    const [{ body }] = reads as [(typeof reads)[0]];
    expect(Object.keys(body.data.attributes)).toHaveLength(people.length);
    expect(body.data.identifier_ids).toHaveLength(people.length);
    expect((await api.get("/v1/profiles")).body.data).toHaveLength(1);
  });

  test("events read and list as the survivor's at once, whenever they were recorded", async () => {
    const api = await daybook().newProperty();
    const email = newEmail();
    const [survivor, source] = [await newProfile(api), await newProfile(api, { identifiers: [email] })];
    const record = async (whose: object) =>
      (await api.post("/v1/events", { type: "order.completed", properties: {}, ...whose })).body.data;
    const events = [
      await record({ profile_id: source.id, dedupe_id: "d-1" }),
      await record({ profile_id: survivor.id }),
      await record({ identifier: email }),
    ];
    // Some are on their way when the two become one.
    const racing = Promise.all(Array.from({ length: 20 }, () => record({ profile_id: source.id })));
    expect((await merge(api, survivor, source)).status).toBe(200);
    const everything: { id: string }[] = [...events, ...(await racing), await record({ identifier: email })];
    for (const { id } of everything) {
      expect((await api.get(`/v1/events/${id}?expand=profile`)).body.data).toMatchObject({
        profile_id: survivor.id,
        profile: { id: survivor.id },
      });
    }
    const replay = await api.post("/v1/events", {
      type: "order.completed",
      properties: {},
      identifier: email,
      dedupe_id: "d-1",
    });
    expect([replay.status, replay.body.data.id, replay.body.data.profile_id]).toEqual([200, events[0].id, survivor.id]);
    for (const id of [survivor.id, source.id]) {
      const { body } = await api.get(
        `/v1/events?filter[profile_id]=${id}&filter[type]=order_completed&page[limit]=500`,
      );
      expect(body.data.map((event: { id: string }) => event.id).toSorted()).toEqual(
        everything.map((event) => event.id).toSorted(),
      );
      expect(new Set(body.data.map((event: { profile_id: string }) => event.profile_id))).toEqual(
        new Set([survivor.id]),
      );
    }
  });

  test("every merge leaves a record of who, when and what", async () => {
    const api = await daybook().newProperty();
    const survivor = await newProfile(api, { attributes: { a: 1 } });
    const source = await newProfile(api, { attributes: { a: 2, b: "secret" }, location: { city: "Bonn" } });
    const answer = await merge(api, survivor, source);
    const database = new pg.Client({ connectionString: daybook().databaseUrl });
    await database.connect();
    try {
      const { rows } = await database.query("SELECT * FROM profile.merges WHERE property_id = $1", [
        decodeId("prop", api.propertyId, "property_id"),
      ]);
      expect(rows).toEqual([
        expect.objectContaining({
          survivor_id: decodeId("prof", survivor.id, "id"),
          source_id: decodeId("prof", source.id, "id"),
          merged_by: expect.stringMatching(/^key_/),
          request_id: answer.headers.get("x-request-id"),
          merged_at: expect.any(Date),
          moved: { identifier_ids: source.identifier_ids, attributes: ["b"], tags: [], location: ["city"] },
        }),
      ]);
    } finally {
      await database.end();
    }
  });

  test("what happens to profiles is recorded once each, as events of the platform's own", async () => {
    const api = await daybook().newProperty();
    const [survivor, source] = [await newProfile(api), await newProfile(api)];
    await api.post("/v1/events", { type: "page.viewed", identifier: newEmail(), properties: {} });
    await merge(api, survivor, source);
    await daybook().clients.profiles.redactProfile({ propertyId: api.propertyId, profileId: survivor.id }, testCall);
    const list = async () => (await api.get("/v1/events?filter[source]=system&sort=occurred_at")).body.data;
    const events = await eventually(async () => {
      const data = await list();
      return data.length >= 5 ? data : undefined;
    });
    expect(events.map(({ type }: { type: string }) => type)).toEqual([
      "profile.created",
      "profile.created",
      "profile.created",
      "profile.merged",
      "profile.redacted",
    ]);
    const metrics = await eventually(async () => {
      const { data } = (await api.get("/v1/metrics?filter[system]=true")).body;
      return data.length === 3 ? data : undefined;
    });
    expect(metrics).toEqual(
      metrics.map((metric: object) => expect.objectContaining({ ...metric, system: true, source: "system" })),
    );
    // Nobody else may say so.
    const forged = await api.post("/v1/events", { type: "profile.created", profile_id: survivor.id, properties: {} });
    expect(forged.body.error.code).toBe("reserved_event_type");
  });
});
