/**
 * An access token sees its property only: whatever it asks of another, it is answered as if that never was, with the
 * same bytes, and changes nothing there.
 */
import { beforeAll, expect, test } from "vitest";
import { encodeId, newUuid, type IdPrefix } from "#shared/values/ids.ts";
import { exampleIds } from "../../gateway/native/examples.ts";
import type { Answer, Api } from "../support/api.ts";
import { installApp } from "../support/apps.ts";
import { describeOnce, type TestProperty } from "../support/daybook.ts";
import { readOpenApi, type DescribedOperation, type OpenApi } from "../support/openapi.ts";
import { newProfile } from "../support/people.ts";
import { pick } from "../support/random.ts";
import { newWebhookIds } from "../support/webhooks.ts";

/** Ids by the names of examples. */
type Ids = Readonly<Partial<Record<keyof typeof exampleIds, string>>>;

interface Tenant {
  key: TestProperty;
  token: Api;
  ids: Ids;
}

interface Question {
  method: string;
  path: string;
  body?: string;
}

const tenantsCount = 12;
const atOnceMax = 16;
/** The collection before an id in a path, by the id that stands behind it in an example. */
const idAfter: Readonly<Record<string, keyof typeof exampleIds>> = {
  accounts: "property",
  apps: "app",
  events: "event",
  identifiers: "identifier",
  installations: "installation",
  metrics: "metric",
  "profile-bulk-import-jobs": "job",
  profiles: "profile",
  "privacy-requests": "privacyRequest",
  "rejected-writes": "rejectedWrite",
  suppressions: "suppression",
  "webhook-deliveries": "webhookDelivery",
  "webhook-endpoints": "webhookEndpoint",
};

describeOnce("access tokens of many properties", (daybook) => {
  let tenants: Tenant[];
  let openApi: OpenApi;
  beforeAll(async () => {
    tenants = await Promise.all(Array.from({ length: tenantsCount }, newTenant));
    openApi = await readOpenApi((tenants[0] as Tenant).key);
  });

  async function newTenant(): Promise<Tenant> {
    const key = await daybook().newProperty();
    const installation = await installApp(daybook(), key.propertyId);
    const token = await installation.newToken();
    const [profile, other] = [await newProfile(token), await newProfile(token)];
    const event = { type: "order.completed", profile_id: profile.id, properties: { order_id: key.propertyId } };
    const profiles = { data: [{ type: "profile", attributes: { external_id: key.propertyId } }] };
    const job = { data: { type: "profile-bulk-import-job", attributes: { profiles } } };
    return {
      key,
      token,
      ids: {
        property: key.propertyId,
        key: key.keyId,
        app: installation.appId,
        installation: installation.installationId,
        profile: profile.id,
        otherProfile: other.id,
        identifier: profile.identifier_ids[0] ?? "",
        metric: (await token.post("/v1/metrics", { name: "loyalty.joined" })).body.data.id,
        event: (await token.post("/v1/events", event)).body.data.id,
        job: (await token.post("/api/profile-bulk-import-jobs", job)).body.data.id,
        ...(await newWebhookIds(token)),
      },
    };
  }

  /** Ids that nothing has. */
  function nobodysIds(): Ids {
    return Object.fromEntries(
      Object.entries(exampleIds).map(([name, id]) => [name, encodeId(id.split("_")[0] as IdPrefix, newUuid())]),
    );
  }

  const fill = (text: string, ids: Ids): string =>
    Object.entries(ids).reduce(
      (filled, [name, id]) => filled.replaceAll(exampleIds[name as keyof typeof exampleIds], id),
      text,
    );

  /** An operation on a thing, with the ids of examples; its first body is the one that is shown first. */
  function questionOf({ method, path, body }: DescribedOperation): Question {
    const [example] = Object.values(body?.examples ?? {});
    return {
      method,
      path: path.replaceAll(
        /([\w-]+)\/\{\w+\}/g,
        (_all, name: string) => `${name}/${exampleIds[idAfter[name] ?? "job"]}`,
      ),
      ...(example ? { body: JSON.stringify(example.value) } : {}),
    };
  }

  /** Questions about something that their path or body names, beyond those of operations with an id in the path. */
  const others: readonly Question[] = [
    { method: "GET", path: `/v1/events?filter[profile_id]=${exampleIds.profile}&expand=profile,metric` },
    { method: "GET", path: `/api/events?filter=equals(profile_id,"${exampleIds.profile}")&include=profile` },
    { method: "GET", path: `/api/events?filter=equals(metric_id,"${exampleIds.metric}")` },
    {
      method: "POST",
      path: "/v1/events",
      body: JSON.stringify({ type: "order.completed", profile_id: exampleIds.profile, properties: {} }),
    },
    {
      method: "POST",
      path: "/v1/events/batch",
      body: JSON.stringify({ events: [{ type: "order.completed", profile_id: exampleIds.profile, properties: {} }] }),
    },
  ];

  const ask = (api: Api, { method, path, body }: Question, ids: Ids): Promise<Answer> =>
    api.request(
      method,
      fill(path, ids),
      body === undefined ? {} : { body: fill(body, ids), headers: { "content-type": "application/json" } },
    );

  /** An answer without what is of one request, or was sent with it. */
  const comparable = ({ status, text }: Answer, ids: Ids): unknown => [
    status,
    Object.values(ids)
      .reduce((left, id) => left.replaceAll(id, "").replaceAll(encodeURIComponent(id), ""), text)
      .replaceAll(/req_\w{26}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|"as_of":"[^"]*"/g, ""),
  ];

  const isAboutOne = ({ path }: DescribedOperation): boolean => path.includes("{");

  // Before the others: what a property was refused is in a list, with the ids that it asked for.
  test("no list of either surface has what is of another", async () => {
    const lists = [...openApi.operations, ...openApi.compat].filter(
      (operation) => operation.method === "GET" && !isAboutOne(operation),
    );
    expect(lists.length).toBeGreaterThan(10);
    await eachOf(tenants, async ({ token, ids }) => {
      const foreign = tenants.filter((tenant) => tenant.ids !== ids).flatMap((tenant) => Object.values(tenant.ids));
      for (const { path } of lists) {
        const { status, text } = await token.request("GET", path);
        expect([path, status, foreign.filter((id) => text.includes(id))]).toEqual([path, 200, []]);
      }
    });
  });

  test("what is of another is answered as what never was, whatever is asked, and stays as it is", async () => {
    const about = [...openApi.operations, ...openApi.compat].filter(isAboutOne).map(questionOf);
    expect(about.length).toBeGreaterThan(30);
    const before = await Promise.all(tenants.map(contentsOf));
    const strange: unknown[] = [];
    let asked = 0;
    const work = tenants.flatMap((asker) => [...about, ...others].map((question) => ({ asker, question })));
    await eachOf(work, async ({ asker, question }) => {
      const nobodys = nobodysIds();
      const unknown = comparable(await ask(asker.token, question, nobodys), nobodys);
      const isFound = question.path.includes("filter") || question.path.endsWith("/batch");
      if (!isFound && (unknown as [number])[0] !== 404) strange.push([question, unknown]);
      for (const owner of tenants) {
        if (owner === asker) continue;
        // Some of the ids may be the asker's own, as long as one is not: that of the thing itself.
        const mixed = { ...owner.ids, ...(question.method === "POST" ? { otherProfile: asker.ids.otherProfile } : {}) };
        const answer = await ask(asker.token, question, mixed);
        asked++;
        const seen = comparable(answer, mixed);
        if (JSON.stringify(seen) !== JSON.stringify(unknown)) strange.push([question, seen, unknown]);
      }
    });
    expect(strange.slice(0, 5)).toEqual([]);
    expect(asked).toBeGreaterThan(4_000);
    expect(await Promise.all(tenants.map(contentsOf))).toEqual(before);
  }, 120_000);

  test("what is of another cannot be joined to one's own", async () => {
    for (const asker of tenants) {
      const owner = pick(tenants.filter((tenant) => tenant !== asker));
      const { profile = "", identifier = "" } = asker.ids;
      for (const ids of [owner.ids, nobodysIds()]) {
        const answers = [
          await asker.token.post(`/v1/profiles/${profile}/merge`, { source_profile_id: ids.profile }),
          await asker.token.post(`/v1/profiles/${ids.profile}/merge`, { source_profile_id: profile }),
          await asker.token.get(`/v1/profiles/${profile}/identifiers/${ids.identifier}`),
          await asker.token.get(`/v1/profiles/${ids.profile}/identifiers/${identifier}`),
          await asker.token.delete(`/v1/profiles/${profile}/identifiers/${ids.identifier}`),
        ];
        expect(answers.map(({ status, body }) => [status, body.error?.code])).toEqual(
          answers.map(() => [404, "resource_not_found"]),
        );
      }
    }
  });

  /** What a property has, as a key of it sees it. */
  async function contentsOf({ key, ids }: Tenant): Promise<unknown> {
    const paths = [
      `/v1/profiles/${ids.profile}?expand=identifiers`,
      `/v1/profiles/${ids.otherProfile}?expand=identifiers`,
      `/v1/events?filter[profile_id]=${ids.profile}`,
      `/v1/metrics/${ids.metric}`,
      `/v1/apps`,
    ];
    const answers = await Promise.all(paths.map((path) => key.get(path)));
    return answers.map(({ status, body }) => [status, body.data]);
  }

  /** Works on items, some at once. */
  async function eachOf<Item>(items: readonly Item[], run: (item: Item) => Promise<void>): Promise<void> {
    const waiting = [...items];
    const worker = async (): Promise<void> => {
      for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) await run(item);
    };
    await Promise.all(Array.from({ length: atOnceMax }, worker));
  }
});
