/** The webhooks of apps, what whoever sends them reads of installations, and what is said of callers. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  AppStatus,
  RevokedReason,
  type ListWebhookInstallationsRequestSchema,
  type WebhookInstallation,
} from "#proto/daybook/identity/v1/apps_pb.ts";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { bindable, createServiceClient } from "#shared/rpc/clients.ts";
import { newId } from "#shared/values/ids.ts";
import { toTimestamp } from "#shared/values/time.ts";
import { scopesOfTypes, webhookTypes } from "#shared/values/webhook-types.ts";
import { isScope } from "../../services/identity/domain/scopes.ts";
import { faultsOf, goodApp, startAppIdentity, type AppIdentity, type NewApp } from "../support/app-identity.ts";
import { testCall } from "../support/daybook.ts";
import type { TestIdentity } from "../support/identity.ts";

const owner = new Owner();
let { at, newApp, install, properties } = {} as AppIdentity;
let { apps } = {} as TestIdentity;
let now = Date.UTC(2030, 0, 1) * 1000;

beforeAll(async () => {
  ({ at, newApp, install, properties } = await startAppIdentity(owner, { nowMicros: () => now }));
  ({ apps } = at(0));
});
afterAll(() => owner.close());
beforeEach(() => {
  now += 1_000_000;
});

const webhook = { url: "https://hooks.example.com/daybook", types: ["event.recorded", "app.uninstalled"] };
const allowed = { url: "https://hooks.example.com/daybook", types: ["*"] };

describe("the webhook of an app", () => {
  test("is kept, replaced as a whole, and removed by an empty address", async () => {
    const { app } = await newApp({ webhook: { ...webhook, types: [...webhook.types, "event.recorded"] } });
    expect(app).toMatchObject({ webhook });
    const change = async (what: NewApp) => (await apps.updateApp({ appId: app.id, ...what })).app;
    expect(await change({ name: "Other" })).toMatchObject({ webhook });
    expect(await change({ webhook: allowed })).toMatchObject({ webhook: allowed });
    expect((await change({ webhook: { url: "" } }))?.webhook).toBeUndefined();
    expect((await apps.getApp({ appId: app.id })).app?.webhook).toBeUndefined();
    expect((await newApp()).app.webhook).toBeUndefined();
  });

  const url = { "webhook.url": "url_not_allowed" };
  test.each<[string, NonNullable<NewApp["webhook"]>, Record<string, string>]>([
    ["http", { ...webhook, url: "http://hooks.example.com/" }, url],
    ["a user", { ...webhook, url: "https://a:b@hooks.example.com/" }, url],
    ["a fragment", { ...webhook, url: "https://hooks.example.com/#a" }, url],
    ["another spelling of a host", { ...webhook, url: "https://0x7f.1/" }, url],
    ["a long address", { ...webhook, url: `https://hooks.example.com/${"a".repeat(2_048)}` }, url],
    ["no type", { ...webhook, types: [] }, { "webhook.types": "parameter_missing" }],
    [
      "an unknown type",
      { ...webhook, types: ["event.recorded", "toString"] },
      { "webhook.types.1": "parameter_invalid" },
    ],
    ["all and one", { ...webhook, types: ["*", "webhook.test"] }, { "webhook.types": "parameter_conflict" }],
    [
      "too many types",
      { ...webhook, types: Array.from({ length: 51 }, () => "*") },
      { "webhook.types": "too_many_items" },
    ],
    ["neither", { url: "x", types: [] }, { ...url, "webhook.types": "parameter_missing" }],
  ])("with %s is refused", async (_, bad, faults) => {
    expect(await faultsOf(apps.createApp({ ...goodApp, webhook: bad }))).toEqual(faults);
    const { app } = await newApp({ webhook });
    expect(await faultsOf(apps.updateApp({ appId: app.id, webhook: bad }))).toEqual(faults);
    expect((await apps.getApp({ appId: app.id })).app).toEqual(app);
  });

  test("may be refused for its types alone when it has no address", async () => {
    expect(await faultsOf(apps.createApp({ ...goodApp, webhook: { url: "", types: ["*"] } }))).toEqual(url);
  });
});

test("each type of messages needs a scope of the vocabulary, or none", () => {
  const scopes = scopesOfTypes(["*"]);
  expect(scopes).toEqual([...new Set(webhookTypes.flatMap(({ scope }) => scope ?? []))]);
  expect(scopes.filter((scope) => !isScope(scope))).toEqual([]);
  expect(scopesOfTypes(["webhook.test", "metric.created", "event.linked", "event.recorded"])).toEqual([
    "metrics:read",
    "events:read",
  ]);
});

describe("installations for whoever sends webhooks", () => {
  const readAll = async (
    request: MessageInitShape<typeof ListWebhookInstallationsRequestSchema> = {},
    limit = 2,
  ): Promise<WebhookInstallation[]> => {
    const found: WebhookInstallation[] = [];
    for (let hasMore = true; hasMore;) {
      const last = found.at(-1)?.installation?.id;
      const after = last === undefined ? {} : { afterInstallationId: last };
      const page = await apps.listWebhookInstallations({ ...request, ...after, limit });
      expect(page.asOf).toEqual(toTimestamp(now));
      expect(page.installations.length).toBeLessThanOrEqual(limit);
      found.push(...page.installations);
      ({ hasMore } = page);
    }
    return found;
  };
  const idsOf = (found: readonly WebhookInstallation[]) => found.map(({ installation }) => installation?.id);

  test("are all of them, or those that changed or whose app did, in pages", async () => {
    const [one, other] = [(await newApp({ webhook })).app, (await newApp()).app];
    const made = [
      await install(one.id, properties[0]),
      await install(one.id, properties[1]),
      await install(other.id, properties[0]),
      await install(other.id, properties[1]),
    ].map(({ id }) => id);
    const all = await readAll();
    expect(idsOf(all).slice(-4)).toEqual(made);
    expect(all.at(-4)).toMatchObject({ installation: { appId: one.id, propertyId: properties[0] }, webhook });
    expect(all.at(-1)?.webhook).toBeUndefined();

    now += 60_000_000;
    const since = { changedSince: toTimestamp(now) };
    expect(await readAll(since)).toEqual([]);
    await apps.updateApp({ appId: one.id, webhook: allowed });
    const ended = { propertyId: properties[0], installationId: made[2] as string, reason: RevokedReason.OPERATOR };
    await apps.endInstallation(ended);
    // Once each, though one of these changed itself and with its app.
    await install(one.id, properties[1]);
    for (const limit of [1, 2, 500]) expect(idsOf(await readAll(since, limit))).toEqual(made.slice(0, 3));
    expect((await readAll(since))[0]).toMatchObject({ webhook: allowed });

    now += 60_000_000;
    await apps.updateApp({ appId: one.id, status: AppStatus.SUSPENDED });
    const suspended = await readAll({ changedSince: toTimestamp(now) });
    expect(idsOf(suspended)).toEqual(made.slice(0, 2));
    for (const each of suspended) {
      expect(each).toMatchObject({ installation: { revokedReason: RevokedReason.SUSPENDED } });
      expect(each.webhook).toBeUndefined();
    }
  });

  test("are refused in pages of no size, and after what is no installation", async () => {
    for (const limit of [0, 501])
      expect(await faultsOf(apps.listWebhookInstallations({ limit }))).toHaveProperty("limit");
    const after = { limit: 1, afterInstallationId: "x" };
    expect(await faultsOf(apps.listWebhookInstallations(after))).toEqual({ after_installation_id: "invalid_id" });
  });
});

describe("callers", () => {
  const identity = () => bindable(createServiceClient(IdentityService, at(0).transport))(testCall);
  const describeOne = async (propertyId: string, callerId: string) => {
    const [state] = (await identity().describeCallers({ callers: [{ propertyId, callerId }] })).callers;
    expect(state?.callerId).toBe(callerId);
    return { active: state?.active, scopes: state?.scopes, name: state?.name };
  };

  test("are described in the order of the request, whatever became of them", async () => {
    const { key } = await identity().createKey({
      propertyId: properties[0],
      name: "Till",
      scopes: ["events:write", "events:read"],
      revision: "2026-11-01",
    });
    const { app } = await newApp({ name: "Tea" });
    const { id } = await install(app.id);
    const unknown = newId("inst");
    const callers = [id, unknown, key?.id ?? "", id.toUpperCase()].map((callerId) => ({
      propertyId: properties[0],
      callerId,
    }));
    expect((await identity().describeCallers({ callers })).callers).toMatchObject([
      { callerId: id, active: true, scopes: ["events:read"], name: "Tea" },
      { callerId: unknown, active: false, scopes: [], name: "" },
      { callerId: key?.id, active: true, scopes: ["events:write", "events:read"], name: "Till" },
      { callerId: id.toUpperCase(), active: true },
    ]);
    const over = { active: false, scopes: [] };
    // Of another property.
    expect(await describeOne(properties[1], id)).toEqual({ ...over, name: "" });
    expect(await describeOne(properties[1], key?.id ?? "")).toEqual({ ...over, name: "" });
    await identity().revokeKey({ propertyId: properties[0], keyId: key?.id ?? "" });
    expect(await describeOne(properties[0], key?.id ?? "")).toEqual({ ...over, name: "Till" });
    await apps.updateApp({ appId: app.id, status: AppStatus.SUSPENDED });
    expect(await describeOne(properties[0], id)).toEqual({ ...over, name: "Tea" });
    await apps.updateApp({ appId: app.id, status: AppStatus.ACTIVE });
    expect(await describeOne(properties[0], id)).toEqual({ ...over, name: "Tea" });
  });

  test("that expired have ended", async () => {
    const expiresAt = toTimestamp(now + 10_000_000);
    const made = {
      propertyId: properties[0],
      name: "Till",
      scopes: ["events:read"],
      revision: "2026-11-01",
      expiresAt,
    };
    const { key } = await identity().createKey(made);
    expect(await describeOne(properties[0], key?.id ?? "")).toMatchObject({ active: true });
    now += 10_000_000;
    expect(await describeOne(properties[0], key?.id ?? "")).toMatchObject({ active: false, scopes: [] });
  });

  test.each([
    ["none", [], { callers: "parameter_missing" }],
    ["1,001", Array.from({ length: 1_001 }, () => ({ propertyId: "x", callerId: "x" })), { callers: "too_many_items" }],
    ["no property", [{ propertyId: "x", callerId: newId("key") }], { property_id: "invalid_id" }],
    ["a member", [{ propertyId: newId("prop"), callerId: newId("mem") }], { caller_id: "invalid_id" }],
  ])("are refused: %s", async (_, callers, faults) => {
    expect(await faultsOf(identity().describeCallers({ callers }))).toEqual(faults);
  });
});
