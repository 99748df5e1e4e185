/** What is written over one surface is right on the other. */
import { beforeAll, describe, expect, test } from "vitest";
import { describeEverywhere, testCall, type TestProperty } from "../support/daybook.ts";
import { newProfile } from "../support/people.ts";
import { eventually } from "../support/processes.ts";

let count = 0;
const newEmail = (): string => `translated${++count}@example.com`;
const profileOf = (attributes: object, more: object = {}): object => ({
  data: { type: "profile", attributes, ...more },
});
const eventOf = (name: string, profile: object, more: object = {}): object => ({
  data: {
    type: "event",
    attributes: {
      metric: { data: { type: "metric", attributes: { name } } },
      profile: { data: { type: "profile", attributes: profile } },
      properties: {},
      ...more,
    },
  },
});

describeEverywhere("between the surfaces", (daybook) => {
  let api: TestProperty;
  beforeAll(async () => {
    api = await daybook().newProperty();
  });
  const idOf = async (filter: string): Promise<string | undefined> =>
    (await api.get(`/api/profiles?filter=${encodeURIComponent(filter)}`)).body.data[0]?.id;
  const nativeEvents = async (profileId: string) =>
    (await api.get(`/v1/events?filter[profile_id]=${profileId}&filter[source]=api`)).body.data;

  describe("profiles", () => {
    test("written here, read natively", async () => {
      const email = newEmail();
      const { body } = await api.post(
        "/api/profiles",
        profileOf({
          email: email.toUpperCase(),
          phone_number: "+351 (910) 000-123",
          external_id: `x-${email}`,
          first_name: "Ada",
          title: "Countess",
          location: {
            city: "London",
            country: "GB",
            address1: "12 St James's Square",
            latitude: 51.507_222_22,
            timezone: "Europe/London",
          },
          properties: { plan: "gold", n: 1 },
        }),
      );
      const native = (await api.get(`/v1/profiles/${body.data.id}?expand=identifiers`)).body.data;
      expect(native.identifiers).toMatchObject([
        { type: "email", value: email, is_primary: true },
        { type: "phone", value: "+351910000123", is_primary: true },
        { type: "external_id", value: `x-${email}` },
      ]);
      expect(native.attributes).toEqual({
        plan: "gold",
        n: 1,
        $first_name: "Ada",
        $title: "Countess",
        $address1: "12 St James's Square",
        $latitude: 51.507_222_22,
      });
      expect(native.location).toEqual({
        city: "London",
        region: null,
        country: "GB",
        timezone: "Europe/London",
        zip: null,
      });
    });

    test("written natively, read here", async () => {
      const email = newEmail();
      const person = await newProfile(api, {
        identifiers: [
          { type: "email", value: email },
          { type: "email", value: `second-${email}`, is_primary: true },
        ],
        attributes: { plan: "gold", $first_name: "Ada", $last_name: 7, first_name: "custom", __proto__: 1 },
        location: { city: "Porto", country: "PT" },
      });
      const { data } = (await api.get(`/api/profiles/${person.id}`)).body;
      expect(data).toMatchObject({
        type: "profile",
        id: person.id,
        attributes: {
          email: `second-${email}`,
          phone_number: null,
          first_name: "Ada",
          last_name: null,
          location: { city: "Porto", country: "PT", address1: null, latitude: null },
          properties: { plan: "gold", $last_name: 7, first_name: "custom" },
        },
        links: { self: `${daybook().baseUrl}/api/profiles/${person.id}` },
      });
      const bare = person.id.slice("prof_".length).toUpperCase();
      expect((await api.get(`/profiles/${bare}/`)).body.data.id).toBe(person.id);
    });

    test("what the native location cannot hold is given back as it was, and gives way to what it can", async () => {
      const { body } = await api.post(
        "/api/profile-import",
        profileOf({
          email: newEmail(),
          location: { country: "Großbritannien", timezone: "europe/london", zip: "z".repeat(40), city: "x" },
        }),
      );
      const path = `/api/profiles/${body.data.id}`;
      const native = async () => (await api.get(`/v1/profiles/${body.data.id}`)).body.data;
      expect(body.data.attributes.location).toMatchObject({
        country: "Großbritannien",
        timezone: "europe/london",
        zip: "z".repeat(40),
      });
      expect((await native()).location).toMatchObject({ country: null, timezone: null, zip: null, city: "x" });
      const patched = await api.patch(path, profileOf({ location: { country: "GB", zip: null } }));
      expect(patched.body.data.attributes.location).toMatchObject({
        country: "GB",
        timezone: "europe/london",
        zip: null,
        city: "x",
      });
      expect(await native()).toMatchObject({ location: { country: "GB" }, attributes: { $timezone: "europe/london" } });
      const emptied = await api.patch(path, profileOf({ location: {} }));
      expect(emptied.body.data.attributes.location).toMatchObject({ country: "GB" });
      const cleared = await api.patch(path, profileOf({ location: null }));
      expect(Object.values(cleared.body.data.attributes.location).filter((value) => value !== null)).toEqual([]);
    });

    test("a phone that is none is kept, and nobody is known by it", async () => {
      const { body } = await api.post("/api/profiles", profileOf({ email: newEmail(), phone_number: "555 01" }));
      expect(body.data.attributes.phone_number).toBe("555 01");
      expect(body.data.attributes.properties).toEqual({});
      const patched = await api.patch(`/api/profiles/${body.data.id}`, profileOf({ phone_number: "+44 20 7946 0018" }));
      expect(patched.body.data.attributes.phone_number).toBe("+442079460018");
      expect(await idOf('equals(phone_number,"+442079460018")')).toBe(body.data.id);
      expect((await api.get(`/v1/profiles/${body.data.id}`)).body.data.attributes).toEqual({});
    });

    test("meta appends, takes away and unsets, wherever it stands; emails come and go", async () => {
      const email = newEmail();
      const meta = { patch_properties: { append: { list: ["a", "b"] }, unset: ["gone"] } };
      await api.post("/api/profile-import", profileOf({ email, properties: { gone: 1, list: ["x"] } }));
      const imported = await api.post("/api/profile-import", profileOf({ email }, { meta }));
      expect(imported.body.data.attributes.properties).toEqual({ list: ["x", "a", "b"] });
      await api.post(
        "/api/events",
        eventOf("Meta", { email, meta: { patch_properties: { unappend: { list: "x" }, append: {} } } }),
      );
      const id = imported.body.data.id as string;
      expect((await api.get(`/api/profiles/${id}`)).body.data.attributes.properties).toEqual({ list: ["a", "b"] });
      const more = newEmail();
      await api.patch(
        `/api/profiles/${id}`,
        profileOf({}, { meta: { patch_identifiers: { append: { email: [more] } } } }),
      );
      expect(await idOf(`equals(email,"${more}")`)).toBe(id);
      await api.patch(
        `/api/profiles/${id}`,
        profileOf({}, { meta: { patch_identifiers: { unappend: { email: more } } } }),
      );
      expect(await idOf(`equals(email,"${more}")`)).toBeUndefined();
      expect(await idOf(`equals(email,"${email}")`)).toBe(id);
    });

    test("anonymous_id and external_id alone make a profile", async () => {
      for (const field of ["anonymous_id", "external_id"]) {
        const first = await api.post("/api/profile-import", profileOf({ [field]: `alone-${field}` }));
        const again = await api.post("/api/profile-import", profileOf({ [field]: `alone-${field}`, first_name: "A" }));
        expect([first.status, again.status, again.body.data.id]).toEqual([201, 200, first.body.data.id]);
      }
    });

    test("identifiers of two profiles are a duplicate to an import, and the first decides for an event", async () => {
      const [email, other] = [newEmail(), newEmail()];
      const one = await api.post("/api/profiles", profileOf({ email }));
      const two = await api.post("/api/profiles", profileOf({ email: other, external_id: other }));
      const both = { email, external_id: other };
      const refused = await api.post("/api/profile-import", profileOf(both));
      expect(refused.status).toBe(409);
      expect([one.body.data.id, two.body.data.id]).toContain(refused.body.errors[0].meta.duplicate_profile_id);
      expect((await api.post("/api/events", eventOf("Both", both))).status).toBe(202);
      expect(await nativeEvents(one.body.data.id)).toMatchObject([{ type: "both" }]);
      expect(await nativeEvents(two.body.data.id)).toEqual([]);
    });

    test("values are shown to keys that may see them", async () => {
      const { body } = await api.post("/api/profiles", profileOf({ email: newEmail(), first_name: "Ada" }));
      const reader = await api.withScopes(["profiles:read"]);
      const shown = (await reader.get(`/api/profiles/${body.data.id}`)).body.data.attributes;
      expect(shown).toMatchObject({ email: null, first_name: "Ada" });
    });

    test("neither import errors nor cursors show values to others", async () => {
      const property = await daybook().newProperty();
      const [email, other, phone] = [newEmail(), newEmail(), "+442079460021"];
      await property.post("/api/profiles", profileOf({ email }));
      await property.post("/api/profiles", profileOf({ email: other, phone_number: phone }));
      const sent = { email, phone_number: phone, first_name: "Ada" };
      const attributes = { profiles: { data: [{ type: "profile", id: "", attributes: sent }] } };
      const job = await property.post("/api/profile-bulk-import-jobs", {
        data: { type: "profile-bulk-import-job", attributes },
      });
      const path = `/api/profile-bulk-import-jobs/${job.body.data.id}/import-errors`;
      const [error] = await eventually(async () => {
        const { data } = (await property.get(path)).body;
        return data.length > 0 ? data : undefined;
      });
      expect(error.attributes.original_payload).toEqual({ id: "", ...sent });
      const reader = await property.withScopes(["profiles:read"]);
      const [hidden] = (await reader.get(path)).body.data;
      expect(hidden.attributes.original_payload).toEqual({
        id: "",
        email: null,
        phone_number: null,
        first_name: "Ada",
      });
    });
  });

  describe("events", () => {
    test("written here, read natively", async () => {
      const email = newEmail();
      const properties = { a: 1, nested: { list: [1.5, null, "x"] }, "with.dot": true };
      const sent = eventOf(
        "Placed Order",
        { email },
        { properties, value: 1e14, value_currency: "eur", time: "2026-10-01T10:00:00+02:00" },
      );
      const { status, body } = await api.post("/api/events", sent);
      expect([status, body.data.type]).toEqual([202, "event"]);
      const native = (await api.get(`/v1/events/${body.data.id}`)).body.data;
      expect(native).toMatchObject({
        type: "placed.order",
        properties,
        value: "100000000000000",
        currency: "EUR",
        occurred_at: "2026-10-01T08:00:00.000000Z",
        source: "api",
      });
      expect(native.profile_id).toBe(await idOf(`equals(email,"${email}")`));
    });

    test("written natively, read here", async () => {
      const person = await newProfile(api);
      const event = {
        type: "native.thing",
        profile_id: person.id,
        properties: { n: 1 },
        occurred_at: "2026-10-01T08:00:00.123456Z",
      };
      const { id } = (await api.post("/v1/events", event)).body.data;
      const read = await eventually(async () => {
        const answer = (await api.get(`/api/events/${id}?include=metric`)).body;
        return answer.included.length > 0 ? answer : undefined;
      });
      expect(read.data).toMatchObject({
        type: "event",
        id,
        attributes: {
          timestamp: 1_790_841_600,
          datetime: "2026-10-01T08:00:00.123456+00:00",
          event_properties: { n: 1 },
        },
        relationships: { profile: { data: { type: "profile", id: person.id } } },
      });
      expect(read.included[0].attributes.name).toBe("native.thing");
      expect(read.data.relationships.metric.data.id).toBe(read.included[0].id);
    });

    test("numbers keep every digit", async () => {
      const email = newEmail();
      const text = JSON.stringify(eventOf("Exact", { email }, { value: "VALUE", properties: { big: "BIG" } }))
        .replace('"VALUE"', "-12345678901234567.12345678")
        .replace('"BIG"', "12345678901234567890.5");
      const { body } = await api.post("/api/events", text);
      const native = await api.get(`/v1/events/${body.data.id}`);
      expect(native.body.data.value).toBe("-12345678901234567.12345678");
      expect(native.text).toContain('"big":12345678901234567890.5');
      expect((await api.get(`/api/events/${body.data.id}`)).text).toContain('"big":12345678901234567890.5');
    });

    test("a value without a currency is in the property's", async () => {
      const property = await daybook().newProperty();
      const { propertyId } = property;
      await daybook().clients.identity.updateProperty({ propertyId, defaultCurrency: "SEK" }, testCall);
      const { body } = await property.post("/api/events", eventOf("Paid", { email: newEmail() }, { value: 5 }));
      expect((await property.get(`/v1/events/${body.data.id}`)).body.data).toMatchObject({
        value: "5",
        currency: "SEK",
      });
      expect((await property.get("/api/accounts/")).body.data[0].attributes.preferred_currency).toBe("SEK");
    });

    test("a unique_id is recorded once per profile and metric; without one nothing is dropped", async () => {
      const email = newEmail();
      const same = { time: "2026-10-01T10:00:00Z" };
      for (const more of [{ unique_id: "u" }, { unique_id: "u" }, {}, {}])
        await api.post("/api/events", eventOf("Unique", { email }, { ...same, ...more }));
      await api.post("/api/events", eventOf("Unique Other", { email }, { unique_id: "u" }));
      const id = (await idOf(`equals(email,"${email}")`)) ?? "";
      expect(await nativeEvents(id)).toHaveLength(4);
    });

    test("what an event says of its profile is written, also by id", async () => {
      const { body } = await api.post("/api/profiles", profileOf({ email: newEmail() }));
      const { id } = body.data;
      const profile = { data: { type: "profile", id, attributes: { first_name: "Ada", properties: { a: 1 } } } };
      expect((await api.post("/api/events", eventOf("By Id", {}, { profile }))).status).toBe(202);
      expect((await api.get(`/api/profiles/${id}`)).body.data.attributes).toMatchObject({
        first_name: "Ada",
        properties: { a: 1 },
      });
      expect(await nativeEvents(id)).toHaveLength(1);
    });

    test("the flat shape of 2023-02-22", async () => {
      const email = newEmail();
      const headers = { revision: "2023-02-22" };
      const flat = {
        data: {
          type: "event",
          attributes: {
            metric: { name: "Flat Thing" },
            properties: { $event_id: "e1", $value: 12.5, x: 1 },
            profile: { $email: email, $first_name: "Ada", $city: "London", $id: `flat-${email}`, plan: "gold" },
          },
        },
      };
      const answers = [
        await api.post("/api/events/", flat, { headers }),
        await api.post("/api/events/", flat, { headers }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([202, 202]);
      expect(answers[0]?.headers.get("revision")).toBe("2023-02-22");
      const id = (await idOf(`equals(external_id,"flat-${email}")`)) ?? "";
      expect(await nativeEvents(id)).toMatchObject([
        { type: "flat.thing", value: "12.5", properties: { $event_id: "e1", $value: 12.5, x: 1 } },
      ]);
      expect((await api.get(`/api/profiles/${id}`)).body.data.attributes).toMatchObject({
        email,
        first_name: "Ada",
        location: { city: "London" },
        properties: { plan: "gold" },
      });
    });

    test("filters, orders and pages, going on by the cursor alone", async () => {
      const email = newEmail();
      for (let hour = 0; hour < 5; hour++) {
        await api.post(
          "/api/events",
          eventOf("Paged", { email }, { time: `2026-10-01T0${hour}:00:00Z`, properties: { hour } }),
        );
      }
      const id = await idOf(`equals(email,"${email}")`);
      const filter = `equals(profile_id,'${id}'),greater-or-equal(datetime,2026-10-01T01:00:00+00:00),less-than(timestamp,${Date.UTC(2026, 9, 1, 5) / 1000})`;
      const first = await api.get(
        `/api/events/?filter=${filter}&sort=datetime&page[size]=2&fields[event]=event_properties.hour,timestamp`,
      );
      expect(first.body.data.map(({ attributes }: { attributes: object }) => attributes)).toMatchObject([
        { event_properties: { hour: 1 } },
        { event_properties: { hour: 2 } },
      ]);
      expect(Object.keys(first.body.data[0].attributes)).toEqual(["timestamp", "event_properties"]);
      const next = new URL(first.body.links.next);
      const cursor = next.searchParams.get("page[cursor]") ?? "";
      expect(cursor).toMatch(/^[\w-]+$/);
      for (const again of [cursor, `=${cursor}`, encodeURIComponent(first.body.links.next)]) {
        const second = await api.get(`/api/events?page[cursor]=${again}`);
        expect(
          second.body.data.map(
            ({ attributes }: { attributes: { event_properties: object } }) => attributes.event_properties,
          ),
        ).toEqual([{ hour: 3 }, { hour: 4 }]);
        expect(second.body.links).toMatchObject({ next: null, prev: expect.stringContaining("cursor") });
      }
      expect((await api.get(next.pathname + next.search)).body.data).toHaveLength(2);
    });
  });

  describe("metrics", () => {
    test("written here, read natively, and the other way round", async () => {
      const email = newEmail();
      await api.post("/api/events", eventOf("SMS: Clicked a Very Long Link!", { email }));
      const native = await eventually(async () => {
        const { body } = await api.get("/v1/metrics?filter[name]=custom.sms.clicked.a.verylonglink");
        return body.data[0];
      });
      const { data } = (await api.get(`/api/metrics/${native.id}/`)).body;
      expect(data.attributes).toMatchObject({
        name: "SMS: Clicked a Very Long Link!",
        integration: { name: "API", category: "API" },
        created: expect.stringMatching(/^\d{4}-.*\+00:00$/),
      });
      const made = (await api.post("/v1/metrics", { name: "made.natively" })).body.data;
      expect((await api.get(`/api/metrics/${made.id.slice(4)}`)).body.data.attributes.name).toBe("made.natively");
      const shown = (await api.get("/api/metrics")).body.data;
      expect(shown.map(({ attributes }: { attributes: { name: string } }) => attributes.name)).not.toContain(
        "profile.created",
      );
      const system = (
        await api.get(`/api/metrics?filter=${encodeURIComponent('equals(integration.category,"Internal")')}`)
      ).body.data;
      expect(system.map(({ attributes }: { attributes: { name: string } }) => attributes.name)).toContain(
        "profile.created",
      );
    });

    test("counts over civil days, by what events hold", async () => {
      const property = await daybook().newProperty();
      const email = newEmail();
      for (const [time, plan, value] of [
        ["2026-03-28T23:30:00Z", "a", 1.1],
        ["2026-03-29T23:30:00Z", "b", 2.2],
        ["2026-03-30T10:00:00Z", "b", 3.3],
      ] as const) {
        await property.post(
          "/api/events",
          eventOf("Civil", { email }, { time, value, value_currency: "EUR", properties: { Plan: plan } }),
        );
      }
      const metric = await eventually(async () => (await property.get("/v1/metrics?filter[name]=civil")).body.data[0]);
      const ask = async (more: object) => {
        const attributes = {
          metric_id: metric.id,
          measurements: ["count", "sum_value"],
          timezone: "Europe/Berlin",
          filter: ["greater-or-equal(datetime,2026-03-29T00:00:00),less-than(datetime,2026-03-31T00:00:00)"],
          ...more,
        };
        return (await property.post("/api/metric-aggregates", { data: { type: "metric-aggregate", attributes } })).body
          .data;
      };
      const answer = await eventually(async () => {
        const data = await ask({});
        return data.attributes.data[0]?.measurements.count.join() === "1,2" ? data : undefined;
      });
      expect(answer.attributes).toEqual({
        dates: ["2026-03-28T23:00:00+00:00", "2026-03-29T22:00:00+00:00"],
        data: [{ dimensions: [], measurements: { count: [1, 2], sum_value: [1.1, 5.5] } }],
      });
      const grouped = await ask({ by: ["Plan"], sort: "-count", measurements: ["count", "unique"] });
      expect(grouped.attributes.data).toEqual([
        { dimensions: ["b"], measurements: { count: [0, 2], unique: [0, 1] } },
        { dimensions: ["a"], measurements: { count: [1, 0], unique: [1, 0] } },
      ]);
      const bare = await ask({ by: ["$value_currency"], measurements: ["sum_value"], interval: "month" });
      expect(bare.attributes.data).toEqual([{ dimensions: ["EUR"], measurements: { sum_value: [6.6] } }]);
    });

    test("counts events of all currencies and of none, sums those of one, and knows both at once", async () => {
      const property = await daybook().newProperty();
      const people = [newEmail(), newEmail()];
      const time = "2026-03-29T10:00:00Z";
      for (const [index, money] of [
        { value: 1.5, value_currency: "USD" },
        { value: 2.5, value_currency: "EUR" },
        { value: 3, value_currency: "EUR" },
        {},
      ].entries()) {
        const profile = { email: people[index % 2] };
        await property.post("/api/events", eventOf("Mixed", profile, { ...money, time, properties: {} }));
      }
      const metric = await eventually(async () => (await property.get("/v1/metrics?filter[name]=mixed")).body.data[0]);
      const ask = async (measurements: string[], more: object = {}) => {
        const attributes = {
          metric_id: metric.id,
          measurements,
          filter: ["greater-or-equal(datetime,2026-03-29),less-than(datetime,2026-03-30)"],
          ...more,
        };
        const body = { data: { type: "metric-aggregate", attributes } };
        return (await property.post("/api/metric-aggregates", body)).body.data.attributes.data;
      };
      const all = { count: [4], sum_value: [1.5], unique: [2] };
      await eventually(async () => {
        const [row] = await ask(["count", "sum_value"]);
        // However early it is asked, no event is counted whose value is not in the sum.
        expect([[0, 0], ...[1, 2, 3, 4].map((counted) => [counted, 1.5])]).toContainEqual([
          row.measurements.count[0],
          row.measurements.sum_value[0],
        ]);
        return row.measurements.count[0] === 4 ? true : undefined;
      });
      expect(await ask(["unique", "sum_value", "count"])).toEqual([{ dimensions: [], measurements: all }]);
      expect(await ask(["sum_value"])).toEqual([{ dimensions: [], measurements: { sum_value: [1.5] } }]);
      const parted = await ask(["count", "sum_value"], { by: ["$value_currency"], sort: "$value_currency" });
      expect(parted).toEqual([
        { dimensions: [""], measurements: { count: [1], sum_value: [0] } },
        { dimensions: ["EUR"], measurements: { count: [2], sum_value: [5.5] } },
        { dimensions: ["USD"], measurements: { count: [1], sum_value: [1.5] } },
      ]);
      // Of a range without any event there is a row of nothing.
      const none = await ask(["count", "sum_value", "unique"], {
        filter: ["greater-or-equal(datetime,2026-05-01),less-than(datetime,2026-05-02)"],
      });
      expect(none).toEqual([{ dimensions: [], measurements: { count: [0], sum_value: [0], unique: [0] } }]);
    });
  });

  describe("the way there", () => {
    test("paths with and without /api, slashes at the end and twice", async () => {
      for (const path of [
        "/metrics",
        "/metrics/",
        "/api/metrics",
        "/api/metrics/",
        "//api/metrics",
        "//api//metrics//",
      ]) {
        const answer = await api.get(path);
        expect([path, answer.status]).toEqual([path, 200]);
      }
      expect((await api.get("/v1/account/")).status).toBe(404);
    });

    test("every scheme of Authorization that is set, and only Bearer natively", async () => {
      for (const scheme of ["Klaviyo-API-Key", "Compat-API-Key", "bearer"]) {
        const headers = { authorization: `${scheme} ${api.secret}`, "content-type": "application/json" };
        expect((await api.get("/api/accounts", { headers })).status).toBe(200);
        expect((await api.get("/v1/account", { headers })).status).toBe(scheme === "bearer" ? 200 : 401);
      }
      expect((await api.get("/api/accounts", { headers: { authorization: `Other ${api.secret}` } })).status).toBe(401);
    });

    test("links are under the address that was asked, whatever a stranger says of another", async () => {
      const headers = { "x-forwarded-proto": "https", "x-forwarded-host": "shop.example.com" };
      const { links } = (await api.get("/api/metrics/", { headers })).body;
      expect(links.self).toBe(`${daybook().baseUrl}/api/metrics`);
    });

    test("a plus that arrived as a space", async () => {
      const email = newEmail().replace("@", "+tag@");
      const { body } = await api.post("/api/profiles", profileOf({ email, phone_number: "+14155550123" }));
      for (const filter of [
        `equals(email,"${email}")`,
        `any(email,["${email}","x@example.com"])`,
        'any(phone_number,["+14155550123"])',
      ]) {
        const found = await api.get(`/api/profiles/?filter=${filter.replaceAll('"', "%22")}`);
        expect(found.body.data.map(({ id }: { id: string }) => id)).toEqual([body.data.id]);
      }
    });
  });

  test("an import job: what it wrote is right natively, what it refused is told", async () => {
    const [email, taken] = [newEmail(), newEmail()];
    await api.post("/api/profiles", profileOf({ email: taken, external_id: taken }));
    const other = await newProfile(api);
    const data = [
      profileOf({ email, first_name: "Job", properties: { a: [1] } }),
      profileOf({ phone_number: "12345", anonymous_id: `anon-${email}` }),
      profileOf({ last_name: "ById" }, { id: other.id }),
      profileOf({ email: newEmail() }, { id: "prof_01h00000000000000000000000" }),
      profileOf({ external_id: taken, email }),
    ].map((document) => (document as { data: object }).data);
    const { status, body } = await api.post("/api/profile-bulk-import-jobs/", {
      data: { type: "profile-bulk-import-job", attributes: { profiles: { data } } },
    });
    expect(status).toBe(202);
    const path = `/api/profile-bulk-import-jobs/${body.data.id}`;
    const job = await eventually(async () => {
      const { attributes } = (await api.get(path)).body.data;
      return attributes.status === "complete" ? attributes : undefined;
    });
    expect(job).toMatchObject({ total_count: 5, completed_count: 3, failed_count: 2 });
    const errors = (await api.get(`${path}/import-errors/`)).body.data;
    expect(
      errors.map(({ attributes }: { attributes: { original_payload: object } }) => attributes.original_payload),
    ).toMatchObject([{ id: "prof_01h00000000000000000000000" }, { external_id: taken, email }]);
    const id = (await idOf(`equals(email,"${email}")`)) ?? "";
    expect((await api.get(`/v1/profiles/${id}`)).body.data.attributes).toEqual({ a: [1], $first_name: "Job" });
    expect((await api.get(`/v1/profiles/${other.id}`)).body.data.attributes).toEqual({ $last_name: "ById" });
    const pages = [await api.get(`${path}/profiles?page[size]=2`)];
    pages.push(await api.get(pages[0]?.body.links.next.replace(daybook().baseUrl, "")));
    expect(pages.map((page) => page.body.data.length)).toEqual([2, 1]);
  });
});
