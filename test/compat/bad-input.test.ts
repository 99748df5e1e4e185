/** What the compatibility surface refuses, and how it says so. */
import { beforeAll, describe, expect, test } from "vitest";
import { createApi, type Answer } from "../support/api.ts";
import { describeOnce, testCall, type TestProperty } from "../support/daybook.ts";

const metric = { data: { type: "metric", attributes: { name: "Placed Order" } } };
const person = { data: { type: "profile", attributes: { email: "bad@example.com" } } };
const eventOf = (attributes: object): object => ({ data: { type: "event", attributes } });
const good = { metric, profile: person, properties: {} };
const profileOf = (attributes: object): object => ({ data: { type: "profile", attributes } });
const importOf = (data: unknown): object => ({
  data: { type: "profile-bulk-import-job", attributes: { profiles: { data } } },
});
const bulkOf = (data: unknown): object => ({
  data: { type: "event-bulk-create-job", attributes: { "events-bulk-create": { data } } },
});
const entryOf = (events: unknown[], profile: object = person): object => ({
  type: "event-bulk-create",
  attributes: { profile, events: { data: events } },
});
const bulkEvent = (attributes: object = {}): object => ({
  type: "event",
  attributes: { metric, properties: {}, ...attributes },
});

describeOnce("bad input to the compatibility surface", (daybook) => {
  let api: TestProperty;
  beforeAll(async () => {
    api = await daybook().newProperty();
  });

  /** Checks the form of an error answer. @returns its pointers, or parameters. */
  function refusedAt(answer: Answer, status: number): string[] {
    expect([answer.status, answer.text.slice(0, 500)]).toEqual([status, expect.any(String)]);
    expect(answer.headers.get("content-type")).toBe("application/vnd.api+json");
    for (const name of [
      "x-request-id",
      "service-version",
      "ratelimit-limit",
      "ratelimit-remaining",
      "ratelimit-reset",
    ]) {
      expect([name, answer.headers.get(name)]).toEqual([name, expect.any(String)]);
    }
    for (const error of answer.body.errors) {
      expect(error).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        status,
        code: expect.stringMatching(/^[a-z_]+$/),
        title: expect.any(String),
        detail: expect.stringMatching(/./),
        source: expect.any(Object),
        links: {},
        meta: expect.any(Object),
      });
    }
    return answer.body.errors.map(
      ({ source }: { source: { pointer?: string; parameter?: string } }) => source.pointer ?? source.parameter ?? "",
    );
  }

  describe("events", () => {
    const at = (end: string): string => `/data/attributes${end}`;
    test.each<[string, unknown, string[]]>([
      ["no data", {}, ["/data"]],
      ["a list", [], ["/data"]],
      ["null", null, ["/data"]],
      ["another type", { data: { type: "profile", attributes: good } }, ["/data/type"]],
      ["no type", { data: { attributes: good } }, ["/data/type"]],
      ["attributes in the wrong place", { data: { type: "event", ...good } }, ["/data/attributes"]],
      ["no metric", eventOf({ ...good, metric: undefined }), [at("/metric")]],
      ["no profile", eventOf({ ...good, profile: undefined }), [at("/profile")]],
      [
        "no name",
        eventOf({ ...good, metric: { data: { type: "metric", attributes: {} } } }),
        [at("/metric/data/attributes/name")],
      ],
      [
        "an empty name",
        eventOf({ ...good, metric: { data: { type: "metric", attributes: { name: " " } } } }),
        [at("/metric/data/attributes/name")],
      ],
      [
        "too long a name",
        eventOf({ ...good, metric: { data: { type: "metric", attributes: { name: "x".repeat(128) } } } }),
        [at("/metric/data/attributes/name")],
      ],
      [
        "nobody",
        eventOf({ ...good, profile: { data: { type: "profile", attributes: { first_name: "x" } } } }),
        [at("/profile/data/attributes")],
      ],
      [
        "an email that is none",
        eventOf({ ...good, profile: { data: { type: "profile", attributes: { email: "x" } } } }),
        [at("/profile/data/attributes/email")],
      ],
      [
        "a phone that is none, alone",
        eventOf({ ...good, profile: { data: { type: "profile", attributes: { phone_number: "12" } } } }),
        [at("/profile/data/attributes/phone_number")],
      ],
      [
        "a profile that there is not",
        eventOf({
          ...good,
          profile: { data: { type: "profile", id: "prof_01h00000000000000000000000", attributes: {} } },
        }),
        [at("/profile/data/id")],
      ],
      ["a value that is no number", eventOf({ ...good, value: "much" }), [at("/value")]],
      ["a value that is too large", eventOf({ ...good, value: 1e18 }), [at("/value")]],
      ["a currency that is none", eventOf({ ...good, value: 1, value_currency: "EURO" }), [at("/value_currency")]],
      ["a time that is none", eventOf({ ...good, time: "yesterday" }), [at("/time")]],
      ["a time long ago", eventOf({ ...good, time: "1989-12-31T23:59:59Z" }), [at("/time")]],
      ["properties that are a list", eventOf({ ...good, properties: [1] }), [at("/properties")]],
      ["U+0000", eventOf({ ...good, properties: { a: { "b/c": "\u0000" } } }), [at("/properties/a/b~1c")]],
      ["an unknown field", eventOf({ ...good, colour: "red" }), [at("/colour")]],
      [
        "several at once",
        eventOf({ ...good, value: {}, time: "x", value_currency: "?" }),
        [at("/value_currency"), at("/value"), at("/time")],
      ],
      ["the flat shape, and nobody", eventOf({ metric: { name: "x" }, profile: { name: "Ada" } }), [at("/profile")]],
      [
        "the flat shape, and several faults",
        eventOf({ metric: { name: "" }, profile: { $email: "x", $city: true } }),
        [at("/profile/$city")],
      ],
      [
        "the flat shape, and what stands among its properties",
        eventOf({
          metric: { name: "x" },
          profile: { $email: "a@example.com" },
          properties: { $value: "x", $event_id: "x".repeat(256) },
        }),
        [at("/properties/$event_id"), at("/properties/$value")],
      ],
      [
        "the flat shape, and an email that is none",
        eventOf({ metric: { name: "" }, profile: { $email: "x", "a/b": "\u0000" } }),
        [at("/metric/name"), at("/profile/$email"), at("/profile/a~1b")],
      ],
    ])("%s", async (name, body, pointers) => {
      const status = name === "a profile that there is not" ? 404 : 400;
      expect(refusedAt(await api.post("/api/events", body), status)).toEqual(pointers);
    });
  });

  describe("profiles", () => {
    const at = (end: string): string => `/data/attributes${end}`;
    const many = { properties: { a: "x".repeat(300_000) } };
    test.each<[string, object, string[]]>([
      ["nobody", profileOf({}), ["/data/attributes"]],
      ["an unknown field", profileOf({ email: "a@example.com", foo: 1 }), [at("/foo")]],
      ["something else than a name", profileOf({ email: "a@example.com", first_name: {} }), [at("/first_name")]],
      [
        "an unknown field of a location",
        profileOf({ email: "a@example.com", location: { planet: "x" } }),
        [at("/location/planet")],
      ],
      ["an external_id that is too long", profileOf({ external_id: "x".repeat(256) }), [at("/external_id")]],
      ["a surrogate that stands alone", profileOf({ email: "a@example.com", last_name: "\ud800" }), [at("/last_name")]],
      ["too much", profileOf({ email: "a@example.com", ...many }), [at("/properties")]],
    ])("%s", async (_name, body, pointers) => {
      for (const path of ["/api/profiles", "/api/profile-import"]) {
        expect(refusedAt(await api.post(path, body), 400)).toEqual(pointers);
      }
    });

    test("an unknown field is named as clients know it", async () => {
      const answer = await api.post("/api/profiles", profileOf({ email: "a@example.com", foo: 1 }));
      expect(answer.body.errors[0].detail).toBe("'foo' is not a valid field for the resource 'profile'.");
    });

    test("appending to what is no list, the last identifier, an id that is none", async () => {
      const { body } = await api.post(
        "/api/profiles",
        profileOf({ email: "only@example.com", properties: { plan: "x" } }),
      );
      const path = `/api/profiles/${body.data.id}`;
      const meta = { patch_properties: { append: { plan: "y" } } };
      const append = await api.patch(path, { data: { type: "profile", id: body.data.id, attributes: {}, meta } });
      expect(refusedAt(append, 400)).toEqual(["/data/meta/patch_properties/append/plan"]);
      const profile = { data: { type: "profile", id: body.data.id, attributes: { meta } } };
      expect(refusedAt(await api.post("/api/events", eventOf({ ...good, profile })), 400)).toEqual([
        "/data/attributes/profile/data/attributes/meta/patch_properties/append/plan",
      ]);
      const cleared = await api.patch(path, {
        data: { type: "profile", id: body.data.id, attributes: { email: null } },
      });
      expect(refusedAt(cleared, 400)).toHaveLength(1);
      for (const id of ["x", "prof_01h00000000000000000000000", "evt_01h00000000000000000000000", "%00"]) {
        expect(refusedAt(await api.get(`/api/profiles/${id}`), 404)).toEqual(["id"]);
      }
      const other = { data: { type: "profile", id: "prof_01h00000000000000000000000", attributes: {} } };
      expect(refusedAt(await api.patch(path, other), 400)).toEqual(["/data/id"]);
    });
  });

  describe("bulk requests are refused whole, and every bad item is named", () => {
    test("profiles", async () => {
      const item = (email: string, more: object = {}): object => ({ type: "profile", attributes: { email, ...more } });
      const items = [
        item("whole1@example.com"),
        item("x"),
        item("whole2@example.com"),
        item("whole3@example.com", { foo: 1 }),
        7,
        item("whole4@example.com", { location: { city: true } }),
        { type: "profile", id: "x" },
      ];
      const base = "/data/attributes/profiles/data";
      expect(refusedAt(await api.post("/api/profile-bulk-import-jobs", importOf(items)), 400)).toEqual([
        `${base}/1/attributes/email`,
        `${base}/3/attributes/foo`,
        `${base}/4`,
        `${base}/5/attributes/location/city`,
        `${base}/6/id`,
      ]);
      const filter = encodeURIComponent('any(email,["whole1@example.com","whole2@example.com"])');
      expect((await api.get(`/api/profiles?filter=${filter}`)).body.data).toEqual([]);
    });

    test("10,001 profiles, and none", async () => {
      const items = Array.from({ length: 10_001 }, (_, index) => ({
        type: "profile",
        attributes: { email: `p${index}@example.com` },
      }));
      expect(refusedAt(await api.post("/api/profile-bulk-import-jobs", importOf(items)), 400)).toEqual([
        "/data/attributes/profiles/data",
      ]);
      expect(refusedAt(await api.post("/api/profile-bulk-import-jobs", importOf([])), 400)).toEqual([
        "/data/attributes/profiles/data",
      ]);
    });

    test("10,000 bad profiles are all named", async () => {
      const items = Array.from({ length: 10_000 }, () => ({
        type: "profile",
        attributes: { email: "x", external_id: "" },
      }));
      const pointers = refusedAt(await api.post("/api/profile-bulk-import-jobs", importOf(items)), 400);
      expect(new Set(pointers.map((pointer) => /\/data\/(\d+)\//.exec(pointer)?.[1])).size).toBe(10_000);
    });

    test("events", async () => {
      const base = "/data/attributes/events-bulk-create/data";
      const entries = [
        entryOf([bulkEvent()]),
        entryOf([bulkEvent(), bulkEvent({ time: "x" }), { type: "event" }]),
        entryOf([bulkEvent({ value: "x" })], { data: { type: "profile", attributes: {} } }),
        entryOf([bulkEvent()], { data: { type: "profile", id: "prof_01h00000000000000000000000", attributes: {} } }),
      ];
      const answer = await api.post("/api/event-bulk-create-jobs", bulkOf(entries));
      expect(refusedAt(answer, 400)).toEqual([
        `${base}/1/attributes/events/data/1/attributes/time`,
        `${base}/1/attributes/events/data/2/attributes`,
        `${base}/2/attributes/events/data/0/attributes/value`,
        `${base}/2/attributes/profile/data/attributes`,
      ]);
      const strangers = await api.post("/api/event-bulk-create-jobs", bulkOf([entries[0], entries[3]]));
      expect(refusedAt(strangers, 400)).toEqual([`${base}/1/attributes/profile/data/id`]);
    });

    test("1,001 events", async () => {
      const entries = [entryOf(Array.from({ length: 1000 }, () => bulkEvent())), entryOf([bulkEvent()])];
      const answer = await api.post("/api/event-bulk-create-jobs", bulkOf(entries));
      expect(refusedAt(answer, 400)).toEqual(["/data/attributes/events-bulk-create/data"]);
      // However bad they are, they are counted before they are read.
      for (const many of [
        [entryOf(Array.from({ length: 100_000 }, () => ({ attributes: {} })))],
        Array.from({ length: 300_000 }, () => 1),
      ]) {
        const refused = await api.post("/api/event-bulk-create-jobs", bulkOf(many));
        expect(refusedAt(refused, 400)).toEqual(["/data/attributes/events-bulk-create/data"]);
      }
    });

    test("a long key is not said again for everything within it", async () => {
      const key = "k".repeat(100_000);
      const within = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`a${index}`, "\u0000"]));
      const entries = Array.from({ length: 20 }, () => entryOf([bulkEvent({ properties: { [key]: within } })]));
      const answer = await api.post("/api/event-bulk-create-jobs", bulkOf(entries));
      expect(refusedAt(answer, 400)).toHaveLength(400);
      expect(answer.text.length).toBeLessThan(200_000);
      expect(answer.body.errors[0].source.pointer).toBe(
        "/data/attributes/events-bulk-create/data/0/attributes/events/data/0/attributes/properties",
      );
    });
  });

  test("a merge that cannot be whole is not begun", async () => {
    const newId = async (name: string): Promise<string> =>
      (await api.post("/api/profiles", profileOf({ email: `${name}@example.com` }))).body.data.id;
    const [one, two, merged, redacted] = [await newId("m1"), await newId("m2"), await newId("m3"), await newId("m4")];
    const merge = (id: string, sources: string[]) => {
      const data = sources.map((source) => ({ type: "profile", id: source }));
      return api.post("/api/profile-merge", {
        data: { type: "profile-merge", id, relationships: { profiles: { data } } },
      });
    };
    expect((await merge(one, [merged])).status).toBe(201);
    await daybook().clients.profiles.redactProfile({ propertyId: api.propertyId, profileId: redacted }, testCall);
    const nobody = "prof_01h00000000000000000000000";
    const at = (index: number): string => `/data/relationships/profiles/data/${index}/id`;
    for (const [destination, sources, status, pointers] of [
      [one, [two, two], 400, [at(1)]],
      [one, [two, two.toUpperCase().replace("PROF_", "")], 400, [at(1)]],
      [one, [two, merged], 400, [at(1)]],
      [one, [two, redacted, one], 400, [at(1), at(2)]],
      [merged, [two], 400, ["/data/id"]],
      [one, [two, nobody], 404, [at(1)]],
      [nobody, [two], 404, ["/data/id"]],
      [redacted, [two], 400, ["/data/id"]],
    ] as const) {
      expect(refusedAt(await merge(destination, [...sources]), status)).toEqual(pointers);
      expect((await api.get(`/v1/profiles/${two}?resolve=false`)).body.data.status).toBe("active");
    }
    const done = await merge(one, [two]);
    expect([done.status, done.body.data.id]).toEqual([201, one]);
  });

  test("an aggregate in an order that there is not", async () => {
    const attributes = {
      metric_id: "x",
      measurements: ["count"],
      by: ["a"],
      filter: ["greater-or-equal(datetime,2026-01-01),less-than(datetime,2026-02-01)"],
    };
    for (const sort of ["constructor", "__proto__", "-toString", "b", "sum_value"]) {
      const body = { data: { type: "metric-aggregate", attributes: { ...attributes, sort } } };
      expect(refusedAt(await api.post("/api/metric-aggregates", body), 400)).toEqual(["/data/attributes/sort"]);
    }
  });

  test("every refusal says the revision that was asked for, and what is wrong with what was sent", async () => {
    const headers = { revision: "2024-10-15" };
    for (const [answer, status] of [
      [await createApi(daybook().baseUrl).get("/api/profiles", { headers }), 401],
      [await (await api.withScopes(["events:write"])).get("/api/profiles", { headers }), 403],
      [await api.get("/api/nothing", { headers }), 404],
      [await api.get("/campaigns", { headers }), 404],
      [await api.post("/api/events", "{", { headers }), 400],
    ] as const) {
      refusedAt(answer, status);
      expect(answer.headers.get("revision")).toBe("2024-10-15");
    }
    const badPath = await api.get("/api/%zz");
    refusedAt(badPath, 400);
    expect(badPath.body.errors[0].detail).toContain("must be valid percent-encoded UTF-8");
    const encoded = await api.post("/api/events", "{}", { headers: { "content-encoding": "br" } });
    refusedAt(encoded, 415);
    expect(encoded.body.errors[0].detail).toContain("Content-Encoding");
  });

  test("a body may have 5 MB, and not a byte more", async () => {
    const bytesMax = 5 * 1024 * 1024;
    const pad = (bytes: number): string =>
      JSON.stringify(profileOf({ email: "long@example.com" })) +
      " ".repeat(bytes - JSON.stringify(profileOf({ email: "long@example.com" })).length);
    expect((await api.post("/api/profile-import", pad(bytesMax))).status).toBe(201);
    refusedAt(await api.post("/api/profile-import", pad(bytesMax + 1)), 413);
    const native = await api.post("/v1/events", pad(3 * 1024 * 1024));
    expect([native.status, native.body.error.message]).toEqual([
      413,
      "The body must have at most 2 MB (2,097,152 bytes).",
    ]);
  });

  test("what is no JSON, or comes as something else", async () => {
    expect(refusedAt(await api.post("/api/events", "{"), 400)).toEqual(["/data"]);
    expect(refusedAt(await api.post("/api/events", ""), 400)).toEqual(["/data"]);
    refusedAt(await api.post("/api/events", "{}", { headers: { "content-type": "text/plain" } }), 415);
  });

  test.each([
    ["filter", "equals(email"],
    ["filter", 'equals(email,"a)'],
    ["filter", "equals(colour,1)"],
    ["filter", 'contains(email,"a")'],
    ["filter", 'equals(email,["a","b"])'],
    ["filter", "greater-than(created,yesterday)"],
    ["filter", 'equals(email,"a")equals(email,"b")'],
    ["sort", "colour"],
    ["page[size]", "0"],
    ["page[size]", "101"],
    ["page[size]", "x"],
    ["page[cursor]", "x"],
    ["page[cursor]", "https://example.com/api/profiles?page%5Bcursor%5D=x"],
    ["include", "colour"],
    ["additional-fields[profile]", "colour"],
    ["colour", "red"],
  ])("the parameter %s=%s is refused by name", async (name, value) => {
    const answer = await api.get(`/api/profiles?${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
    expect(refusedAt(answer, 400)).toEqual([name]);
  });

  test("a cursor of another query, another list or another property is refused", async () => {
    for (const email of ["c1@example.com", "c2@example.com"]) await api.post("/api/profiles", profileOf({ email }));
    const { body } = await api.get("/api/profiles?page[size]=1&sort=created");
    const cursor = new URL(body.links.next).searchParams.get("page[cursor]") ?? "";
    expect((await api.get(`/api/profiles?page[cursor]=${cursor}`)).body.data).toHaveLength(1);
    for (const [path, client] of [
      [`/api/profiles?sort=-created&page[cursor]=${cursor}`, api],
      [`/api/profiles?filter=${encodeURIComponent('equals(email,"c1@example.com")')}&page[cursor]=${cursor}`, api],
      [`/api/events?page[cursor]=${cursor}`, api],
      [`/api/profiles?page[cursor]=${cursor}`, await daybook().newProperty()],
    ] as const) {
      expect(refusedAt(await client.get(path), 400)).toEqual(["page[cursor]"]);
    }
  });

  test("no key, a bad one, one without the scope", async () => {
    expect(refusedAt(await createApi(daybook().baseUrl).get("/api/profiles"), 401)).toHaveLength(1);
    refusedAt(await createApi(daybook().baseUrl, "sk_test_x").get("/api/profiles"), 401);
    const poor = await api.withScopes(["events:write"]);
    refusedAt(await poor.get("/api/profiles"), 403);
    refusedAt(await poor.post("/api/profile-merge", {}), 403);
    const reader = await api.withScopes(["events:read"]);
    refusedAt(await reader.get("/api/events?include=profile"), 403);
  });

  test("what is not supported says so, and a known path names its methods", async () => {
    for (const path of [
      "/api/campaigns",
      "/api/lists/x",
      "/api/lists/x/profiles/",
      "/api/nothing",
      "/campaigns",
      "/profiles/x/tags",
      "/events/x/y/z",
      "/campaigns/x",
      "/api",
      "/api/",
    ]) {
      const answer = await api.get(path);
      refusedAt(answer, 404);
      expect(answer.body.errors[0].detail).toContain("not supported");
    }
    refusedAt(await api.post("/api/campaigns", {}), 404);
    const answer = await api.delete("/api/events/");
    refusedAt(answer, 405);
    expect(answer.headers.get("allow")).toBe("GET, HEAD, POST");
    for (const path of ["/api/profiles/%ff", "/profiles/%", "/api/%ff"]) refusedAt(await api.get(path), 400);
    expect((await api.get("/nothing")).body.error.code).toBe("resource_not_found");
  });

  test("things of another property are not there", async () => {
    const { body } = await api.post("/api/profiles", profileOf({ email: "mine@example.com" }));
    const other = await daybook().newProperty();
    expect(refusedAt(await other.get(`/api/profiles/${body.data.id}`), 404)).toEqual(["id"]);
    refusedAt(await other.patch(`/api/profiles/${body.data.id}`, { data: { type: "profile", attributes: {} } }), 404);
    const job = await api.post(
      "/api/profile-bulk-import-jobs",
      importOf([{ type: "profile", attributes: { email: "mine2@example.com" } }]),
    );
    for (const end of ["", "/profiles", "/import-errors"]) {
      refusedAt(await other.get(`/api/profile-bulk-import-jobs/${job.body.data.id}${end}`), 404);
    }
  });
});
