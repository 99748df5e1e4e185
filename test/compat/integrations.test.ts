/** What integrations do, as their requests really come. */
import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { describeEverywhere, testCall, type TestProperty } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";

let count = 0;
const newEmail = (): string => `integrated${++count}@example.com`;
const profileOf = (attributes: object, more: object = {}): object => ({
  data: { type: "profile", attributes, ...more },
});

describeEverywhere("integrations", (daybook) => {
  let api: TestProperty;
  beforeAll(async () => {
    api = await daybook().newProperty();
  });

  test("of updates at the same time one is the last, and nothing of the others stays", async () => {
    for (const byImport of [false, true]) {
      const email = newEmail();
      const { body } = await api.post("/api/profiles", profileOf({ email }));
      const { id } = body.data;
      const ids = Array.from({ length: 12 }, (_, index) => `${email} ${index}`);
      const answers = await Promise.all(
        ids.map((externalId) => {
          const update = profileOf({ external_id: externalId, properties: { [externalId]: 1 } }, { id });
          return byImport ? api.post("/api/profile-import", update) : api.patch(`/api/profiles/${id}`, update);
        }),
      );
      expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200));
      const { identifiers, attributes } = (await api.get(`/v1/profiles/${id}?expand=identifiers`)).body.data;
      expect(identifiers.map(({ type }: { type: string }) => type)).toEqual(["email", "external_id"]);
      expect(Object.keys(attributes).toSorted()).toEqual(ids.toSorted());
    }
  });

  test("aggregates choose by dimensions of several words, and by numbers as by texts", async () => {
    const email = newEmail();
    for (const [index, order] of [1001, "1001", 1002].entries()) {
      const properties = { "Campaign Name": `sale ${index % 2}`, order_id: order, is_gift: index === 0 };
      const attributes = {
        metric: { data: { type: "metric", attributes: { name: "Chosen" } } },
        profile: { data: { type: "profile", attributes: { email } } },
        properties,
        time: "2026-10-01T10:00:00",
      };
      await api.post("/api/events", { data: { type: "event", attributes } });
    }
    const metric = await eventually(async () => (await api.get("/v1/metrics?filter[name]=chosen")).body.data[0]);
    const range = ["greater-or-equal(datetime,2026-10-01T00:00:00)", "less-than(datetime,2026-10-02T00:00:00)"];
    for (const [filter, expected] of [
      ['equals(Campaign Name,"sale 0")', 2],
      ["equals(Campaign Name,sale 1)", 1],
      ["equals(order_id,1001)", 1],
      ['equals(order_id,"1001")', 1],
      ["equals(order_id,1002.0)", 1],
      ["equals(is_gift,true)", 1],
      ["equals(is_gift,'true')", 0],
    ] as const) {
      const attributes = { metric_id: metric.id, measurements: ["count"], filter: [...range, filter] };
      const found = await eventually(async () => {
        const { body } = await api.post("/api/metric-aggregates", { data: { type: "metric-aggregate", attributes } });
        return body.data?.attributes.data[0].measurements.count[0] === expected || undefined;
      });
      expect([filter, found]).toEqual([filter, true]);
    }
  });

  test("links are URIs that go on with all that was asked for, however it was written", async () => {
    const property = await daybook().newProperty();
    const ids = ["a?b=1", "c&d", 'e"f'];
    for (const id of ids) await property.post("/api/profiles", profileOf({ external_id: id }));
    const filter = `any(external_id,[${ids.map((id) => JSON.stringify(id)).join(",")}])`;
    const written = filter.replaceAll("&", "%26").replaceAll('"', "%22").replaceAll("\\", "%5C");
    const seen: string[] = [];
    let path: string | undefined = `/api/profiles/?filter=${written}&page[size]=2&sort=created`;
    while (path) {
      const { body } = await property.get(path);
      expect(body.links.self).toMatch(/^[\w:/.?&=%+()*~-]+$/);
      seen.push(...body.data.map(({ attributes }: { attributes: { external_id: string } }) => attributes.external_id));
      path = body.links.next?.slice(daybook().baseUrl.length);
    }
    expect(seen).toEqual(ids);
  });

  test("a cursor is read with all that some clients leave around it", async () => {
    for (let index = 0; index < 3; index++) await api.post("/api/profiles", profileOf({ email: newEmail() }));
    const first = await api.get("/api/profiles?page[size]=1&sort=created");
    const { next } = first.body.links;
    const cursor = new URL(next).searchParams.get("page[cursor]") ?? "";
    const second = await api.get(`/api/profiles?page[cursor]=${cursor}`);
    for (const form of [`=${cursor}`, `=${cursor}&page[size]=1`, next, next.replace("http:", "https:")]) {
      const { body } = await api.get(`/api/profiles?page[cursor]=${encodeURIComponent(form)}`);
      expect(body.data).toEqual(second.body.data);
    }
  });

  test("a number as $event_id names an event of the flat shape as a text does", async () => {
    const email = newEmail();
    const send = async (eventId: unknown) => {
      const attributes = {
        metric: { name: "Flat order" },
        profile: { $email: email },
        properties: { $event_id: eventId },
      };
      const { body, status } = await api.post("/api/events/", { data: { type: "event", attributes } });
      expect(status).toBe(202);
      return body.data.id;
    };
    const id = await send(1001);
    expect(await send(1001)).toBe(id);
    expect(await send("1001")).toBe(id);
    expect(await send(1002)).not.toBe(id);
    expect(await send(null)).not.toBe(await send(null));
  });

  test("times have a fraction of six digits or none, which all clients read, and are natively as they were sent", async () => {
    for (const [sent, shown, natively] of [
      ["2026-10-01T10:00:00.25Z", "2026-10-01T10:00:00.250000+00:00", "2026-10-01T10:00:00.250000Z"],
      ["2026-10-01T10:00:00.000", "2026-10-01T10:00:00+00:00", "2026-10-01T10:00:00.000000Z"],
    ] as const) {
      const attributes = {
        metric: { data: { type: "metric", attributes: { name: "Timed" } } },
        profile: { data: { type: "profile", attributes: { email: newEmail() } } },
        properties: {},
        time: sent,
      };
      const { body } = await api.post("/api/events", { data: { type: "event", attributes } });
      expect(body.data.attributes.datetime).toBe(shown);
      expect((await api.get(`/v1/events/${body.data.id}`)).body.data.occurred_at).toBe(natively);
    }
  });

  test("identifiers that are empty say nothing, wherever they come", async () => {
    const email = newEmail();
    const empty = { phone_number: "", external_id: " ", anonymous_id: "", _kx: "" };
    const made = await api.post("/api/profiles", profileOf({ email, ...empty }));
    expect([made.status, made.body.data.attributes.phone_number]).toEqual([201, null]);
    const { id } = made.body.data;
    const known = { email, phone_number: "+442079460020", external_id: email };
    await api.patch(`/api/profiles/${id}`, profileOf(known));
    const nothing = { email: "", ...empty };
    const metric = { data: { type: "metric", attributes: { name: "Emptied" } } };
    const eventBody = (profile: object): object => ({
      data: {
        type: "event",
        attributes: { metric, properties: {}, profile: { data: { type: "profile", ...profile } } },
      },
    });
    const flat = {
      metric: { name: "Emptied" },
      properties: {},
      profile: { $email: email, $id: "", $phone_number: "" },
    };
    for (const answer of [
      await api.patch(`/api/profiles/${id}`, profileOf(nothing)),
      await api.post("/api/profile-import", profileOf({ ...empty, email }, { id: "" })),
      await api.post("/api/profile-import", profileOf(nothing, { id })),
      await api.post("/api/events", eventBody({ id: "", attributes: { ...empty, email } })),
      await api.post("/api/events", { data: { type: "event", attributes: flat } }),
    ]) {
      expect([answer.text, answer.status < 300]).toEqual([answer.text, true]);
    }
    expect((await api.get(`/api/profiles/${id}`)).body.data.attributes).toMatchObject(known);
    const { identifiers, attributes } = (await api.get(`/v1/profiles/${id}?expand=identifiers`)).body.data;
    expect([identifiers.length, attributes]).toEqual([3, {}]);
    const nobody = await api.post("/api/profile-import", profileOf(nothing));
    expect([nobody.status, nobody.body.errors[0].source]).toEqual([400, { pointer: "/data/attributes" }]);
  });

  test("a phone that is none takes the place of no phone", async () => {
    const [email, phone] = [newEmail(), "+442079460022"];
    const { body } = await api.post("/api/profiles", profileOf({ email, phone_number: phone }));
    const path = `/api/profiles/${body.data.id}`;
    for (const answer of [
      await api.patch(path, profileOf({ phone_number: "9112340375" })),
      await api.post("/api/profile-import", profileOf({ phone_number: "9112340375" }, { id: body.data.id })),
    ]) {
      expect([answer.status, answer.body.data.attributes.phone_number]).toEqual([200, phone]);
    }
    expect((await api.get(`/v1/profiles/${body.data.id}`)).body.data.attributes).toEqual({
      $phone_number: "9112340375",
    });
  });

  test("emails are added and taken away by an import, a job and an event alike", async () => {
    const appended = (email: string): object => ({ patch_identifiers: { append: { email } } });
    const taken = (email: string): object => ({ patch_identifiers: { unappend: { email: [email.toUpperCase()] } } });
    const owner = newEmail();
    const { id } = (await api.post("/api/profiles", profileOf({ email: owner }))).body.data;
    const emailsOf = async (): Promise<string[]> => {
      const { identifiers } = (await api.get(`/v1/profiles/${id}?expand=identifiers`)).body.data;
      return identifiers.map(({ value }: { value: string }) => value);
    };
    const ways: ((meta: object) => Promise<unknown>)[] = [
      (meta) => api.post("/api/profile-import", profileOf({ email: owner }, { meta })),
      (meta) => api.post("/api/profile-import", profileOf({}, { id, meta })),
      async (meta) => {
        const data = [{ type: "profile", attributes: { email: owner }, meta }];
        const attributes = { profiles: { data } };
        await api.post("/api/profile-bulk-import-jobs", { data: { type: "profile-bulk-import-job", attributes } });
      },
      (meta) => {
        const metric = { data: { type: "metric", attributes: { name: "Emails" } } };
        const profile = { data: { type: "profile", attributes: { email: owner, meta } } };
        return api.post("/api/events", { data: { type: "event", attributes: { metric, properties: {}, profile } } });
      },
    ];
    for (const way of ways) {
      const email = newEmail();
      await way(appended(email));
      await eventually(async () => ((await emailsOf()).join() === [owner, email].join() ? true : undefined));
      await way(taken(email));
      await eventually(async () => ((await emailsOf()).join() === owner ? true : undefined));
    }
    // What a body says that the profile has, it does not take away.
    const ghost = newEmail();
    const kept = await api.post("/api/profile-import", profileOf({ email: ghost }, { meta: taken(ghost) }));
    expect([kept.status, kept.body.data.attributes.email]).toEqual([201, ghost]);
  });

  test("a parameter that is sent twice is one if both are the same", async () => {
    await api.post("/api/profiles", profileOf({ email: newEmail() }));
    expect((await api.get("/api/profiles?page[size]=1&page[size]=1")).body.data).toHaveLength(1);
    const two = await api.get("/api/profiles?page[size]=1&page[size]=2");
    expect([two.status, two.body.errors[0].source]).toEqual([400, { parameter: "page[size]" }]);
  });

  test("a bare phone is found, its plus having arrived as a space", async () => {
    const phone = "+442079460023";
    const { body } = await api.post("/api/profiles", profileOf({ phone_number: phone }));
    for (const filter of [`equals(phone_number,${phone})`, `equals(phone_number, "${phone}")`]) {
      const found = (await api.get(`/api/profiles/?filter=${filter}`)).body.data;
      expect([filter, found.map(({ id }: { id: string }) => id)]).toEqual([filter, [body.data.id]]);
    }
  });

  test("a bulk request with profiles by id is refused whole, and what it says of them is written behind the answer", async () => {
    const [one, two, three] = await Promise.all(
      [newEmail(), newEmail(), newEmail()].map(async (email) => {
        return (await api.post("/api/profiles", profileOf({ email }))).body.data as { id: string };
      }),
    );
    const entryOf = (profile: object): object => ({
      type: "event-bulk-create",
      attributes: {
        profile: { data: { type: "profile", ...profile } },
        events: {
          data: [
            {
              type: "event",
              attributes: { properties: {}, metric: { data: { type: "metric", attributes: { name: "By id" } } } },
            },
          ],
        },
      },
    });
    const send = (profiles: object[], headers: Record<string, string> = {}) => {
      const attributes = { "events-bulk-create": { data: profiles.map(entryOf) } };
      return api.post(
        "/api/event-bulk-create-jobs",
        { data: { type: "event-bulk-create-job", attributes } },
        { headers },
      );
    };
    const nameOf = async (id = ""): Promise<string> =>
      (await api.get(`/api/profiles/${id}`)).body.data.attributes.first_name;
    const named = (id: string | undefined, name: string): object => ({ id, attributes: { first_name: name } });
    const bad = await send([named(one?.id, "Partial"), named("prof_01h00000000000000000000000", "x")]);
    expect([bad.status, bad.body.errors[0].source.pointer]).toEqual([
      400,
      "/data/attributes/events-bulk-create/data/1/attributes/profile/data/id",
    ]);
    expect(await nameOf(one?.id)).toBeNull();
    // An identifier that another has is refused behind the answer, and keeps no event back.
    const taken = {
      id: two?.id,
      attributes: {
        first_name: "Two",
        email: (await api.get(`/api/profiles/${three?.id}`)).body.data.attributes.email,
      },
    };
    const good = await send([named(one?.id, "One"), taken]);
    expect(good.status).toBe(202);
    await eventually(async () => {
      const found = await Promise.all(
        [one, two].map((who) => api.get(`/v1/events?filter[profile_id]=${who?.id}&filter[type]=by.id`)),
      );
      return found.every(({ body }) => body.data.length === 1) ? true : undefined;
    });
    expect([await nameOf(one?.id), await nameOf(two?.id)]).toEqual(["One", null]);
    await daybook().clients.profiles.redactProfile(
      { propertyId: api.propertyId, profileId: three?.id ?? "" },
      testCall,
    );
    const redacted = await send([{ id: three?.id }]);
    expect([redacted.status, redacted.body.errors[0].detail]).toEqual([400, "The profile is redacted."]);
  });

  test("hundreds of people asked for by their emails come page by page, whatever of the link is sent back", async () => {
    const property = await daybook().newProperty();
    // As many as one URL holds beside what comes with it.
    const emails = Array.from({ length: 150 }, () => `${randomUUID()}@example.com`);
    const data = emails.map((email) => ({ type: "profile", attributes: { email } }));
    const attributes = { profiles: { data } };
    await property.post("/api/profile-bulk-import-jobs", { data: { type: "profile-bulk-import-job", attributes } });
    await eventually(async () => {
      const { body } = await property.get('/api/profile-bulk-import-jobs?filter=equals(status,"complete")');
      return body.data[0];
    });
    const filter = encodeURIComponent(`any(email,${JSON.stringify(emails)})`);
    const first = `/api/profiles?filter=${filter}&page[size]=100&sort=email`;
    const { links } = (await property.get(first)).body;
    const cursor = new URL(links.next).searchParams.get("page[cursor]") ?? "";
    for (const path of [
      links.next.slice(daybook().baseUrl.length),
      `/api/profiles?page[cursor]=${cursor}`,
      `${first}&page[cursor]=${cursor}`,
      `${first}&page[cursor]=${encodeURIComponent(links.next)}`,
    ]) {
      const { status, body } = await property.get(path);
      expect([status, body.data?.length, body.links?.next]).toEqual([200, 50, null]);
    }
  });

  test("events in bulk are recorded also when what they say of their profiles cannot be written", async () => {
    const [listless, full] = [newEmail(), newEmail()];
    await api.post("/api/profiles", profileOf({ email: listless, properties: { plan: 1 } }));
    await api.post("/api/profiles", profileOf({ email: full, properties: { a: "x".repeat(200_000) } }));
    const entryOf = (profile: object, names: string[]): object => ({
      type: "event-bulk-create",
      attributes: {
        profile: { data: { type: "profile", attributes: profile } },
        events: {
          data: names.map((name) => ({
            type: "event",
            attributes: { properties: {}, metric: { data: { type: "metric", attributes: { name } } } },
          })),
        },
      },
    });
    const data = [
      entryOf({ email: listless, meta: { patch_properties: { append: { plan: 2 } } } }, ["First", "Second"]),
      entryOf({ email: full, properties: { b: "x".repeat(100_000) } }, ["First", "Second"]),
    ];
    const attributes = { "events-bulk-create": { data } };
    const { status } = await api.post("/api/event-bulk-create-jobs", {
      data: { type: "event-bulk-create-job", attributes },
    });
    expect(status).toBe(202);
    for (const email of [listless, full]) {
      const found = (await api.get(`/api/profiles?filter=equals(email,"${email}")`)).body.data;
      const types = await eventually(async () => {
        const { body } = await api.get(`/v1/events?filter[profile_id]=${found[0].id}&filter[source]=api`);
        return body.data.length === 2 ? body.data.map(({ type }: { type: string }) => type) : undefined;
      });
      expect(types.toSorted()).toEqual(["first", "second"]);
    }
  });
});
