import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { decodeId } from "#shared/values/ids.ts";
import { describeEverywhere, testCall, type TestProperty } from "../support/daybook.ts";
import { newEmail, newProfile } from "../support/people.ts";
import { eventually } from "../support/processes.ts";

describeEverywhere("redaction", (daybook) => {
  let database: pg.Client;
  beforeAll(async () => {
    database = new pg.Client({ connectionString: daybook().databaseUrl });
    await database.connect();
  });
  afterAll(() => database.end());

  const redact = (api: TestProperty, profileId: string) =>
    daybook().clients.profiles.redactProfile({ propertyId: api.propertyId, profileId }, testCall);

  /**
   * Every row of a property in which a word stands, in whatever column, but messages that are not due: the order of the
   * last sweep names the person until it is sent, two minutes later.
   */
  async function findTraces(api: TestProperty, word: string): Promise<string[]> {
    const property = decodeId("prop", api.propertyId, "property_id");
    const { rows: tables } = await database.query<{ name: string }>(
      `SELECT table_schema || '.' || table_name AS name FROM information_schema.columns
       WHERE table_schema IN ('identity', 'profile', 'event', 'metric', 'webhook') AND column_name = 'property_id'`,
    );
    const traces: string[] = [];
    for (const { name } of tables) {
      const due = /outbox/.test(name) ? "available_at <= now()" : "true";
      const { rows } = await database.query<{ row: string }>(
        `SELECT row_to_json(t)::text AS row FROM ${name} t WHERE property_id = $1 AND ${due}`,
        [property],
      );
      // A payload is bytes, which JSON shows in hexadecimal.
      const hex = Buffer.from(word).toString("hex");
      traces.push(
        ...rows.filter(({ row }) => row.includes(word) || row.includes(hex)).map(({ row }) => `${name} ${row}`),
      );
    }
    return traces;
  }

  test("leaves the record and nothing of the person, in the profile, in its events and on the way", async () => {
    const api = await daybook().newProperty();
    const word = "ada7391";
    const person = await newProfile(api, {
      identifiers: [
        { type: "email", value: `${word}@example.com` },
        { type: "customer_id", value: `${word}-c` },
      ],
      attributes: { name: word },
      location: { city: word },
    });
    const other = await newProfile(api, {
      identifiers: [{ type: "email", value: `${word}@work.example` }],
      attributes: { [word]: 1 },
    });
    await daybook().clients.profiles.updateTags(
      { propertyId: api.propertyId, profileId: person.id, add: [word] },
      testCall,
    );
    let keys = 0;
    // With all that a caller can name a request and an event by.
    const nextKey = () => ({ headers: { "idempotency-key": `${word}-${++keys}` } });
    const record = async (whose: object) => {
      const key = nextKey();
      const body = {
        type: "order.completed",
        properties: { name: word },
        value: "1.50",
        currency: "EUR",
        dedupe_id: `${word}-${keys}`,
        ...whose,
      };
      return (await api.post("/v1/events", body, key)).body.data;
    };
    const events = [await record({ profile_id: person.id }), await record({ profile_id: other.id })];
    const anonymous = await record({ identifier: { type: "customer_id", value: `${word}-d` } });
    await api.patch(other.path, { attributes: { patched: word } }, nextKey());
    await api.post(`${person.path}/merge`, { source_profile_id: other.id }, nextKey());
    await api.post(`${person.path}/identifiers`, { type: "customer_id", value: `${word}-d` }, nextKey());
    const profiles = [
      {
        identifiers: [{ type: "email", value: `${word}@example.com` }],
        attributes: { last: word },
        idempotency_key: `${word}-item`,
        client_reference: word,
      },
    ];
    await api.post("/v1/profiles/batch", { profiles }, nextKey());
    const batch = [
      {
        type: "a.b",
        profile_id: person.id,
        properties: { name: word },
        client_reference: word,
        idempotency_key: `${word}-item`,
      },
    ];
    await api.post("/v1/events/batch", { events: batch }, nextKey());
    const compat = { email: `${word}@example.com`, first_name: word };
    await api.post("/api/profile-import", { data: { type: "profile", attributes: compat } }, nextKey());
    expect((await findTraces(api, word)).length).toBeGreaterThan(5);

    const { profile } = await redact(api, person.id);
    expect(profile?.version).toBeGreaterThan(1n);
    const { body } = await api.get(person.path);
    expect(body.data).toMatchObject({
      id: person.id,
      status: "redacted",
      identifier_ids: [],
      attributes: {},
      tags: [],
      location: null,
      merged_into: null,
      created_at: person.created_at,
    });
    let traces: string[] = [];
    await eventually(async () => ((traces = await findTraces(api, word)).length === 0 ? true : undefined), {
      explain: () => `something of the person is left: ${traces.join("\n")}`,
    });
    for (const { id } of [...events, anonymous]) {
      expect((await api.get(`/v1/events/${id}`)).body.data).toMatchObject({
        profile_id: person.id,
        properties: {},
        value: "1.50",
        currency: "EUR",
        dedupe_id: null,
      });
    }
    const redacted = await api.get("/v1/profiles?filter[status]=redacted");
    expect(redacted.body.data.map(({ id }: { id: string }) => id)).toEqual([person.id]);
    // A merged record that led there leads there still.
    expect((await api.get(other.path)).body).toMatchObject({
      data: { id: person.id },
      meta: { resolved_from: other.id },
    });
  });

  test("refuses every write to it from then on", async () => {
    const api = await daybook().newProperty();
    const email = newEmail();
    const person = await newProfile(api, { identifiers: [email] });
    const [merged, active] = [await newProfile(api), await newProfile(api)];
    await api.post(`${person.path}/merge`, { source_profile_id: merged.id });
    await redact(api, person.id);
    const refusals = [
      await api.patch(person.path, { attributes: { a: 1 } }),
      await api.patch(merged.path, { attributes: { a: 1 } }),
      await api.post(`${person.path}/identifiers`, newEmail()),
      await api.patch(`${person.path}/identifiers/${person.identifier_ids[0]}`, { is_primary: true }),
      await api.delete(`${person.path}/identifiers/${person.identifier_ids[0]}`),
      await api.post("/v1/events", { type: "a.b", profile_id: person.id, properties: {} }),
      await api.post("/v1/events", { type: "a.b", profile_id: merged.id, properties: {} }),
    ];
    expect(refusals.map(({ status, body }) => [status, body.error.code])).toEqual(
      refusals.map(() => [422, "profile_redacted"]),
    );
    expect((await api.post(`${active.path}/merge`, { source_profile_id: person.id })).body.error.code).toBe(
      "invalid_state_transition",
    );
    // The email is nobody's any more.
    const anew = await api.post("/v1/profiles/upsert", { identifiers: [email] });
    expect([anew.status, anew.body.data.id === person.id]).toEqual([201, false]);
  });

  test("of a merged profile is that of its survivor, and a second one changes nothing", async () => {
    const api = await daybook().newProperty();
    const [survivor, source] = [await newProfile(api), await newProfile(api)];
    await api.post(`${survivor.path}/merge`, { source_profile_id: source.id });
    const first = await redact(api, source.id);
    expect([first.profile?.id, first.resolvedFrom]).toEqual([survivor.id, source.id]);
    const second = await redact(api, survivor.id);
    expect(second.profile?.version).toBe(first.profile?.version);
    await expect(redact(api, (await newProfile(await daybook().newProperty())).id)).rejects.toThrow(/no such profile/);
  });

  test("deletes the stored answers of the person, and a retry does nothing twice and is answered with what is left", async () => {
    const api = await daybook().newProperty();
    const [person, other] = [await newProfile(api), await newProfile(api)];
    const eventOf = (id: string) => ({ type: "a.b", profile_id: id, properties: { a: "b" }, dedupe_id: `of ${id}` });
    const sendAll = () =>
      Promise.all([
        api.post("/v1/events", eventOf(person.id), { headers: { "idempotency-key": "event" } }),
        api.patch(person.path, { attributes: { a: "b" } }, { headers: { "idempotency-key": "update" } }),
        api.post("/v1/events/batch", { events: [eventOf(person.id)] }, { headers: { "idempotency-key": "batch" } }),
        api.post("/v1/events", eventOf(other.id), { headers: { "idempotency-key": "other" } }),
      ]);
    const before = await sendAll();
    expect(before.map(({ status }) => status)).toEqual([expect.any(Number), 200, 200, 201]);
    await redact(api, person.id);
    const after = await eventually(async () => {
      const answers = await sendAll();
      return answers.slice(0, 3).some(({ text }) => text.includes('"b"')) ? undefined : answers;
    });
    expect(after.map(({ status }) => status)).toEqual(before.map(({ status }) => status));
    expect(after[0]?.body.data).toEqual({ ...before[0]?.body.data, properties: {}, dedupe_id: null });
    expect(after[1]?.body.data).toMatchObject({ id: person.id, status: "redacted", attributes: {} });
    expect(after[2]?.body.data).toEqual(before[2]?.body.data);
    // Of others the stored answers stay.
    expect(after[3]?.headers.get("idempotency-replayed")).toBe("true");
    // A repeat of the person's event under its dedupe_id is no new event, and makes no new profile.
    const repeat = await api.post("/v1/events", { ...eventOf(other.id), dedupe_id: `of ${person.id}` });
    expect([repeat.status, repeat.body.data.id]).toEqual([200, before[0]?.body.data.id]);
    expect((await api.get("/v1/events?filter[type]=a.b")).body.data).toHaveLength(2);
    expect((await api.get("/v1/profiles")).body.data).toHaveLength(1);
  });

  test("races with writes, merges and events, and nothing of the person comes back", async () => {
    const api = await daybook().newProperty();
    for (let turn = 0; turn < 5; turn++) {
      const [person, other] = [await newProfile(api, { attributes: { a: 1 } }), await newProfile(api)];
      const answers = await Promise.all([
        ...Array.from({ length: 10 }, (_, a) => api.patch(person.path, { attributes: { a } })),
        ...Array.from({ length: 10 }, () => api.post(`${person.path}/identifiers`, newEmail())),
        ...Array.from({ length: 10 }, (_, a) =>
          api.post("/v1/events", { type: "a.b", profile_id: person.id, properties: { a } }),
        ),
        api.post(`${other.path}/merge`, { source_profile_id: person.id }),
        redact(api, person.id).then(() => ({ status: 200 })),
      ]);
      expect(answers.filter(({ status }) => ![200, 201, 422].includes(status))).toEqual([]);
      const { data } = (await api.get(person.path)).body;
      expect(data).toMatchObject({ status: "redacted", attributes: {}, identifier_ids: [] });
    }
    await eventually(
      async () => {
        const { data } = (await api.get("/v1/events?filter[type]=a.b&page[limit]=500")).body;
        return data.every(({ properties }: { properties: object }) => Object.keys(properties).length === 0)
          ? true
          : undefined;
      },
      { explain: () => "an event of a redacted person says something" },
    );
  });
});
