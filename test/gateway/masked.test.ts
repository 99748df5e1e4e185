/**
 * Who may not see the values of identifiers learns them from nothing: no answer, order, filter or error of either
 * surface.
 */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { scopes as allScopes } from "../../services/identity/domain/scopes.ts";
import type { Answer, Api } from "../support/api.ts";
import { installApp } from "../support/apps.ts";
import { describeEverywhere, type TestProperty } from "../support/daybook.ts";
import { readOpenApi, type DescribedOperation, type OpenApi, type Parameter } from "../support/openapi.ts";
import { askAccess, makePrivacyRequests } from "../support/privacy.ts";
import { eventually } from "../support/processes.ts";
import { newWebhookIds } from "../support/webhooks.ts";

// A mask shows the first character and what stands behind the at-sign, or the ends of a phone: none of these parts.
const secrets = ["hidden-mail", "hidden-second", "5550001", "hidden-id", "hidden-device", "hidden-cookie", "0301234"];
const secretIdentifiers = [
  { type: "email", value: "xhidden-mail@example.com", is_primary: true },
  { type: "email", value: "xhidden-second@example.com" },
  { type: "phone", value: "+3155500019999" },
  { type: "external_id", value: "xhidden-id" },
  { type: "anonymous_id", value: "xhidden-device" },
  { type: "kx", value: "xhidden-cookie" },
  { type: "card", value: "shown-1" },
];
const strangePhone = "0301234";
const card = { type: "card", value: "shown-1" };

describeEverywhere("keys that may not see the values of identifiers", (daybook) => {
  let property: TestProperty;
  let reader: Api;
  let openApi: OpenApi;
  /** An id for each path that has one in it, by what stands before it. */
  const ids: Record<string, string> = {};
  let spare: () => Promise<string>;

  beforeAll(async () => {
    property = await daybook().newProperty();
    reader = await property.withScopes(allScopes.filter((scope) => scope !== "identifiers:read_value"));
    openApi = await readOpenApi(property);
    const made = await property.post("/v1/profiles", {
      identifiers: secretIdentifiers,
      attributes: {
        plan: "gold",
        $phone_number: strangePhone,
        $email: "hidden-mail@example.com",
        _kx: "hidden-cookie",
      },
    });
    const profile = made.body.data.id;
    const event = await property.post("/v1/events", { type: "order.completed", profile_id: profile, properties: {} });
    const item = {
      type: "profile",
      attributes: { email: "hidden-mail.and.second@example.com", phone_number: strangePhone },
    };
    // The identifiers of two profiles: an import error, which shows what was sent.
    await property.post("/v1/profiles", { identifiers: [{ type: "external_id", value: "other" }] });
    const refused = {
      type: "profile",
      attributes: {
        email: "xhidden-mail@example.com",
        external_id: "other",
        anonymous_id: "xhidden-device",
        phone_number: strangePhone,
        properties: { $email: "hidden-mail@example.com" },
      },
    };
    const job = await property.post("/api/profile-bulk-import-jobs", {
      data: { type: "profile-bulk-import-job", attributes: { profiles: { data: [item, refused] } } },
    });
    const jobId = job.body.data.id;
    await eventually(async () => {
      const { status } = (await property.get(`/api/profile-bulk-import-jobs/${jobId}`)).body.data.attributes;
      return status === "complete" || undefined;
    });
    const metric = await eventually(async () => (await property.get("/v1/metrics")).body.data[0]?.id);
    const identifier = made.body.data.identifier_ids[0];
    Object.assign(ids, { profiles: profile, events: event.body.data.id, metrics: metric, identifiers: identifier });
    const { appId, installationId } = await installApp(daybook(), property.propertyId);
    Object.assign(ids, { apps: appId, installations: installationId });
    Object.assign(ids, { "profile-bulk-import-jobs": jobId, accounts: property.propertyId });
    const { webhookEndpoint } = await newWebhookIds(property);
    // What was sent of the person: an event that no profile has.
    const toAll = { url: "https://nobody.invalid/all", types: ["event.recorded"] };
    const { id: endpoint } = (await property.post("/v1/webhook-endpoints", toAll)).body.data;
    const visit = { type: "page.viewed", identifier: { type: "cookie", value: "xhidden-cookie" }, properties: {} };
    await property.post("/v1/events", visit);
    const webhookDelivery = await eventually(
      async () => (await property.get(`/v1/webhook-deliveries?filter[endpoint_id]=${endpoint}`)).body.data[0]?.id,
    );
    Object.assign(ids, { "webhook-endpoints": webhookEndpoint, "webhook-deliveries": webhookDelivery });
    await property.post("/v1/events", { ...visit, identifier: { type: "email", value: "xhidden-mail@" } });
    const rejected = await eventually(async () => (await property.get("/v1/rejected-writes")).body.data[0]?.id);
    const { suppression } = await makePrivacyRequests(daybook(), property);
    const identifiers = secretIdentifiers.map(({ type, value }) => ({ type, value }));
    const privacyRequest = await askAccess(property, { identifiers });
    Object.assign(ids, {
      "rejected-writes": rejected,
      "privacy-requests": privacyRequest,
      suppressions: suppression,
    });
    spare = async () =>
      (await property.post("/v1/profiles", { identifiers: [{ type: "card", value: `spare-${randomUUID()}` }] })).body
        .data.id;
  });

  /** Checks that an answer tells none of the secrets, and that there is nothing wrong with the question. */
  function expectNothing(answer: Answer, about: string, statuses: readonly number[] = [200, 201, 202, 204]): void {
    const told = secrets.filter((secret) => `${answer.text}${JSON.stringify([...answer.headers])}`.includes(secret));
    expect([about, told, answer.text.slice(0, 300)]).toEqual([about, [], expect.any(String)]);
    expect([about, answer.status, answer.text.slice(0, 300)]).toEqual([
      about,
      expect.toBeOneOf([...statuses]),
      expect.any(String),
    ]);
  }

  const pathOf = ({ path }: DescribedOperation): string =>
    path.replaceAll(/([\w-]+)\/\{\w+\}/g, (_all, name: string) => `${name}/${ids[name] ?? "missing"}`);

  /** Queries that ask for everything a parameter can, one by one. */
  function* queriesOf({ parameters }: DescribedOperation): Generator<string> {
    yield "";
    for (const { name, in: place, schema, description = "" } of parameters as (Parameter & {
      description?: string;
    })[]) {
      if (place !== "query" || name.startsWith("page[")) continue;
      // What can be expanded stands in the words of the description.
      const named = /expand|include|additional/.test(name) ? (description.match(/[\w$-]+/g) ?? []) : [];
      const values = name.startsWith("filter") ? secretIdentifiers.map(({ value }) => value) : [];
      const words = new Set([...(schema.enum ?? []).map(String), ...named, ...values]);
      for (const word of words) yield `?${encodeURIComponent(name)}=${encodeURIComponent(word)}`;
      if (name === "filter") {
        for (const { value } of secretIdentifiers) {
          for (const field of ["email", "phone_number", "external_id", "_kx"]) {
            yield `?filter=${encodeURIComponent(`equals(${field},"${value}")`)}`;
          }
        }
      }
    }
  }

  test("no answer to a question tells one, whatever its order, filter or expansion", async () => {
    let asked = 0;
    for (const operation of [...openApi.operations, ...openApi.compat]) {
      // What a person asks for is hers: its own scope gives it whole.
      if (operation.method !== "GET" || operation.path.endsWith("/download")) continue;
      for (const query of queriesOf(operation)) {
        const path = pathOf(operation) + query;
        // What was asked for comes back in links, and in what is refused.
        const isSaid = secrets.some((secret) => decodeURIComponent(query).includes(secret));
        const answer = await reader.get(path);
        const about = `${operation.operationId} ${path}`;
        if (!isSaid) expectNothing(answer, about, query === "" ? [200] : [200, 400, 403]);
        else
          for (const one of [answer.body.data].flat()) {
            expect([about, secrets.filter((secret) => JSON.stringify(one ?? null).includes(secret))]).toEqual([
              about,
              [],
            ]);
          }
        asked++;
      }
    }
    expect(asked).toBeGreaterThan(80);
  }, 60_000);

  const resource = (type: string, attributes: object, more: object = {}): object => ({
    data: { type, attributes, ...more },
  });
  const compatMetric = { data: { type: "metric", attributes: { name: "Placed Order" } } };
  // Each write reaches the profile by its id, or by the one identifier that is no secret.
  const writes: Readonly<Record<string, (id: string) => unknown>> = {
    recordEvent: () => ({ type: "order.completed", identifier: card, properties: {} }),
    recordEvents: () => ({ events: [{ type: "order.completed", identifier: card, properties: {} }] }),
    createProfile: () => ({ identifiers: [card] }),
    upsertProfile: () => ({ identifiers: [card], attributes: { plan: "silver" } }),
    upsertProfiles: () => ({ profiles: [{ identifiers: [card] }] }),
    updateProfile: () => ({ attributes: { plan: "bronze" } }),
    addIdentifier: () => ({ type: "card", value: "shown-2" }),
    updateIdentifier: () => ({ is_primary: true }),
    compatCreateEvent: (id) =>
      resource("event", {
        metric: compatMetric,
        properties: {},
        profile: { data: { type: "profile", id, attributes: {} } },
      }),
    compatImportProfile: (id) => resource("profile", { first_name: "Ada" }, { id }),
    compatUpdateProfile: (id) => resource("profile", { last_name: "L" }, { id }),
    compatCreateProfile: () => resource("profile", { external_id: "other" }),
  };

  test("no answer to a write tells one", async () => {
    const profile = ids.profiles ?? "";
    const merged: Record<string, () => Promise<unknown>> = {
      mergeProfiles: async () => ({ source_profile_id: await spare() }),
      compatMergeProfiles: async () => ({
        data: {
          type: "profile-merge",
          id: profile,
          relationships: { profiles: { data: [{ type: "profile", id: await spare() }] } },
        },
      }),
    };
    for (const operation of [...openApi.operations, ...openApi.compat]) {
      if (operation.method === "GET") continue;
      const { operationId, method, body } = operation;
      const [example] = Object.values(body?.examples ?? {});
      const sent = await (writes[operationId]?.(profile) ?? merged[operationId]?.() ?? example?.value);
      const path = pathOf(operation);
      const answer = await reader.request(method, path, {
        headers: { "content-type": "application/json" },
        ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
      });
      expectNothing(answer, `${method} ${path}`, [200, 201, 202, 204, 400, 404, 409, 422]);
    }
    expectNothing(await reader.get(`/v1/profiles/${profile}?expand=identifiers`), "afterwards");
  });

  describe("the order of profiles", () => {
    const sortsOf = (): string[] =>
      [...openApi.operations, ...openApi.compat].flatMap((operation) => {
        const sort = operation.parameters.find(({ name }) => name === "sort");
        if (!sort || !operation.path.endsWith("/profiles")) return [];
        return (sort.schema.enum ?? []).map((order) => `${operation.path}?sort=${String(order)}`);
      });

    test("does not depend on any identifier, where they may ask for it", async () => {
      const own = await daybook().newProperty();
      const some = await own.withScopes(["profiles:read"]);
      const made = async (email: string): Promise<string> =>
        (await own.post("/v1/profiles", { identifiers: [{ type: "email", value: email, is_primary: true }] })).body.data
          .id;
      await made("m@example.com");
      const probe = await made("probe@example.com");
      const orders = async (email: string): Promise<object> => {
        const changed = await own.patch(`/api/profiles/${probe}`, {
          data: { type: "profile", id: probe, attributes: { email } },
        });
        expect(changed.status).toBe(200);
        const found: Record<string, unknown> = {};
        for (const path of sortsOf()) {
          const { status, body } = await some.get(path);
          found[path] = status === 200 ? body.data.map(({ id }: { id: string }) => id) : status;
        }
        return found;
      };
      const before = await orders("a@example.com");
      expect(await orders("z@example.com")).toEqual(before);
      expect(before).toMatchObject({ "/api/profiles?sort=email": 403, "/api/profiles?sort=-email": 403 });
    });

    test("by email is refused with the scope that it needs, also behind a cursor of somebody else", async () => {
      const refused = await reader.get("/api/profiles?sort=-email");
      expect([refused.status, refused.body.errors[0].detail]).toEqual([
        403,
        expect.stringContaining("identifiers:read_value"),
      ]);
      const { links } = (await property.get("/api/profiles?sort=email&page[size]=1")).body;
      const cursor = new URL(links.next).searchParams.get("page[cursor]") ?? "";
      expect(Buffer.from(cursor.slice(4), "base64url").toString("latin1")).not.toContain("example");
      expect((await property.get(`/api/profiles?page[cursor]=${cursor}`)).body.data).toHaveLength(1);
      expect((await reader.get(`/api/profiles?page[cursor]=${cursor}`)).status).toBe(403);
    });
  });

  test("a phone that is none is shown to keys that may see it, on both surfaces", async () => {
    const id = ids.profiles;
    const shown = (await property.get(`/v1/profiles/${id}`)).body.data.attributes;
    expect(shown).toMatchObject({ $phone_number: strangePhone, $email: "hidden-mail@example.com" });
    expect((await reader.get(`/v1/profiles/${id}`)).body.data.attributes).toEqual({
      plan: expect.any(String),
      $first_name: "Ada",
      $last_name: "L",
    });
    const numbers = { $phone_number: 301_234 };
    await property.patch(`/v1/profiles/${id}`, { attributes: numbers });
    expect((await property.get(`/api/profiles/${id}`)).body.data.attributes.properties).toMatchObject(numbers);
    expect((await reader.get(`/api/profiles/${id}`)).body.data.attributes.properties).not.toHaveProperty(
      "$phone_number",
    );
  });
});
