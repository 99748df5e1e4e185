/**
 * Identifiers of a known profile are changed by keys with `identifiers:write` only; to name some beside each other
 * takes no more than the write does.
 */
import { beforeAll, describe, expect, test } from "vitest";
import type { Answer, Api } from "../support/api.ts";
import { describeEverywhere, type TestProperty } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";

const metric = { data: { type: "metric", attributes: { name: "Placed Order" } } };
const profileOf = (attributes: object, more: object = {}): object => ({ type: "profile", attributes, ...more });
const eventOf = (profile: object): object => ({
  data: { type: "event", attributes: { metric, properties: {}, profile: { data: profile } } },
});
const bulkOf = (profile: object): object => ({
  data: {
    type: "event-bulk-create-job",
    attributes: {
      "events-bulk-create": {
        data: [
          {
            type: "event-bulk-create",
            attributes: { profile: { data: profile }, events: { data: [{ type: "event", attributes: { metric } }] } },
          },
        ],
      },
    },
  },
});
const importOf = (profile: object): object => ({
  data: { type: "profile-bulk-import-job", attributes: { profiles: { data: [profile] } } },
});

describeEverywhere("scopes for identifiers over the compatibility surface", (daybook) => {
  let property: TestProperty;
  let writer: Api;
  let full: Api;
  let count = 0;

  beforeAll(async () => {
    property = await daybook().newProperty();
    writer = await property.withScopes(["profiles:write", "events:write", "profiles:read"]);
    full = await property.withScopes(["profiles:write", "events:write", "profiles:read", "identifiers:write"]);
  });

  async function newProfile(): Promise<{
    id: string;
    own: { email: string; external_id: string; phone_number: string };
  }> {
    const number = ++count;
    const own = {
      email: `s${number}@example.com`,
      external_id: `s-${number}`,
      phone_number: `+1500555${1000 + number}`,
    };
    const { body } = await property.post("/api/profiles", { data: profileOf(own) });
    return { id: body.data.id, own };
  }

  const valuesOf = async (id: string): Promise<string[]> =>
    (await property.get(`/v1/profiles/${id}/identifiers`)).body.data
      .map(({ value }: { value: string }) => value)
      .toSorted();

  function expectRefused({ status, body }: Answer): void {
    expect([status, body.errors[0]]).toEqual([
      403,
      expect.objectContaining({ detail: expect.stringContaining("identifiers:write") }),
    ]);
  }

  const patches = [{ append: { email: "attacker@example.com" } }, { unappend: { email: ["owner@example.com"] } }];
  const changes: [string, (id: string, own: object) => [method: "post" | "patch", path: string, body: object]][] = [
    [
      "another email",
      (id) => ["patch", `/api/profiles/${id}`, { data: profileOf({ email: "attacker@example.com" }, { id }) }],
    ],
    [
      "another external_id",
      (id) => ["patch", `/api/profiles/${id}`, { data: profileOf({ external_id: "attacker" }, { id }) }],
    ],
    [
      "one more kind",
      (id) => ["patch", `/api/profiles/${id}`, { data: profileOf({ anonymous_id: "attacker" }, { id }) }],
    ],
    ["none any more", (id) => ["patch", `/api/profiles/${id}`, { data: profileOf({ phone_number: null }, { id }) }]],
    [
      "another by import",
      (id) => ["post", "/api/profile-import", { data: profileOf({ email: "attacker@example.com" }, { id }) }],
    ],
    ...patches.flatMap((patch): typeof changes => {
      const meta = { patch_identifiers: patch };
      return [
        [
          `PATCH ${JSON.stringify(patch)}`,
          (id) => ["patch", `/api/profiles/${id}`, { data: profileOf({}, { id, meta }) }],
        ],
        [
          `import ${JSON.stringify(patch)}`,
          (_id, own) => ["post", "/api/profile-import", { data: profileOf(own, { meta }) }],
        ],
        [
          `job ${JSON.stringify(patch)}`,
          (_id, own) => ["post", "/api/profile-bulk-import-jobs", importOf(profileOf(own, { meta }))],
        ],
        [`event ${JSON.stringify(patch)}`, (_id, own) => ["post", "/api/events", eventOf(profileOf({ ...own, meta }))]],
        [`event by id ${JSON.stringify(patch)}`, (id) => ["post", "/api/events", eventOf(profileOf({ meta }, { id }))]],
        [
          `events ${JSON.stringify(patch)}`,
          (_id, own) => ["post", "/api/event-bulk-create-jobs", bulkOf(profileOf(own, { meta }))],
        ],
      ];
    }),
  ];

  test.each(changes)("%s takes the scope", async (_name, change) => {
    const { id, own } = await newProfile();
    const before = await valuesOf(id);
    const [method, path, body] = change(id, own);
    expectRefused(await writer[method](path, body));
    expect(await valuesOf(id)).toEqual(before);
    // Another profile may have that email by now.
    expect((await full[method](path, body)).status).toBeOneOf([200, 202, 409]);
  });

  describe("without the scope", () => {
    test("what a profile has may be said again, and everything else changed", async () => {
      const { id, own } = await newProfile();
      const said = { email: ` ${own.email.toUpperCase()} `, external_id: own.external_id, first_name: "Ada" };
      expect((await writer.patch(`/api/profiles/${id}`, { data: profileOf(said, { id }) })).status).toBe(200);
      expect((await writer.post("/api/profile-import", { data: profileOf(said, { id }) })).status).toBe(200);
      expect(await valuesOf(id)).toHaveLength(3);
    });

    test("identifiers that stand beside each other are added, by imports, jobs and events", async () => {
      const { id, own } = await newProfile();
      const { email } = own;
      const beside = (name: string): object => profileOf({ email, anonymous_id: `${name}-${id}` });
      expect((await writer.post("/api/profile-import", { data: beside("import") })).status).toBe(200);
      expect((await writer.post("/api/profile-bulk-import-jobs", importOf(beside("job")))).status).toBe(202);
      expect((await writer.post("/api/events", eventOf(beside("event")))).status).toBe(202);
      expect((await writer.post("/api/event-bulk-create-jobs", bulkOf(beside("events")))).status).toBe(202);
      await eventually(async () => ((await valuesOf(id)).length === 7 ? true : undefined));
    });
  });
});
