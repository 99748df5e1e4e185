/** Partner apps, their secrets, and where they are installed, over two replicas of identity. */
import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  AppStatus,
  AppType,
  InstallationStatus,
  RevokedReason,
  type App,
  type UpdateAppRequestSchema,
} from "#proto/daybook/identity/v1/apps_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { newId } from "#shared/values/ids.ts";
import { toTimestamp } from "#shared/values/time.ts";
import {
  faultsOf,
  goodApp,
  refusalOf,
  startAppIdentity,
  type AppIdentity,
  type NewApp,
} from "../support/app-identity.ts";
import type { TestIdentity } from "../support/identity.ts";

const owner = new Owner();
let { at, newApp, install, properties, takeEnded } = {} as AppIdentity;
let { apps, oauth } = {} as TestIdentity;
let now = Date.UTC(2030, 0, 1) * 1000;

beforeAll(async () => {
  ({ at, newApp, install, properties, takeEnded } = await startAppIdentity(owner, { nowMicros: () => now }));
  ({ apps, oauth } = at(0));
});
afterAll(() => owner.close());
beforeEach(() => {
  now += 1_000_000;
  takeEnded();
});

type AppChange = MessageInitShape<typeof UpdateAppRequestSchema>;

const codeOf = async (call: Promise<unknown>): Promise<string> => (await refusalOf(call)).code;

describe("an app", () => {
  test("is what was said of it, with a secret that is shown once if it can keep one", async () => {
    const { app, secret = "" } = await newApp({ scopes: ["events:read", "apps:read", "events:read"] });
    expect(secret).toMatch(/^cs_[0-9A-Za-z]{43}$/);
    expect(app).toMatchObject({
      ...goodApp,
      id: expect.stringMatching(/^app_/),
      scopes: ["events:read", "apps:read"],
      status: AppStatus.ACTIVE,
      createdAt: toTimestamp(now),
      updatedAt: toTimestamp(now),
      secrets: [{ id: expect.stringMatching(/^secr_/), displayPrefix: secret.slice(0, 12) }],
    });
    expect((await apps.getApp({ appId: app.id.toUpperCase() })).app).toEqual(app);
    const { secretHashes } = await oauth.findClient({ appId: app.id });
    expect(secretHashes.map((hash) => Buffer.from(hash))).toEqual([createHash("sha256").update(secret).digest()]);
    const open = await newApp({ type: AppType.PUBLIC, description: "", homepageUrl: undefined });
    expect(open).toMatchObject({ secret: undefined, app: { secrets: [], description: "", type: AppType.PUBLIC } });
    expect(open.app.homepageUrl).toBeUndefined();
    for (const appId of [newId("app"), newId("key")]) {
      const param = { app_id: appId.startsWith("app") ? "resource_not_found" : "invalid_id" };
      expect(await faultsOf(apps.getApp({ appId }))).toEqual(param);
      expect(await faultsOf(oauth.findClient({ appId }))).toEqual(param);
    }
  });

  const [name, scopes, uris] = ["parameter_invalid", "parameter_invalid", "parameter_invalid"];
  test.each<[string, NewApp, Record<string, string>]>([
    ["no name", { name: " " }, { name }],
    ["a long name", { name: "x".repeat(256) }, { name }],
    ["half a character", { name: "\ud800" }, { name }],
    ["a long description", { description: "x".repeat(1_001) }, { description: "parameter_invalid" }],
    ["U+0000", { description: "a\0b" }, { description: "parameter_invalid" }],
    ["a homepage over http", { homepageUrl: "http://example.com/" }, { homepage_url: "parameter_invalid" }],
    ["a homepage with a user", { homepageUrl: "https://a@example.com/" }, { homepage_url: "parameter_invalid" }],
    ["a homepage that is a script", { homepageUrl: "javascript:alert(1)" }, { homepage_url: "parameter_invalid" }],
    ["an empty homepage", { homepageUrl: "" }, { homepage_url: "parameter_invalid" }],
    ["no scope", { scopes: [] }, { scopes: "parameter_missing" }],
    ["an unknown scope", { scopes: ["events:read", "Events:read"] }, { "scopes.1": scopes }],
    ["too many scopes", { scopes: Array.from({ length: 100_000 }, () => "x") }, { scopes: "too_many_items" }],
    ["no redirect", { redirectUris: [] }, { redirect_uris: "parameter_missing" }],
    [
      "11 redirects",
      { redirectUris: Array.from({ length: 11 }, (_, index) => `https://example.com/${index}`) },
      { redirect_uris: "too_many_items" },
    ],
    [
      "a redirect twice",
      { redirectUris: ["https://example.com/a", "https://example.com/b", "https://example.com/a"] },
      { "redirect_uris.2": "parameter_conflict" },
    ],
    ["http of a confidential app", { redirectUris: ["http://127.0.0.1/back"] }, { "redirect_uris.0": uris }],
    ["no type", { type: AppType.UNSPECIFIED }, { type: "parameter_invalid" }],
    ["another type", { type: 9 as AppType }, { type: "parameter_invalid" }],
    [
      "everything at once",
      { name: "", scopes: ["x"], redirectUris: ["/back"], homepageUrl: "x", type: 9 as AppType },
      {
        name,
        "scopes.0": scopes,
        "redirect_uris.0": uris,
        homepage_url: "parameter_invalid",
        type: "parameter_invalid",
      },
    ],
    ["a redirect off its form", { redirectUris: ["https://example.com/a/../b"] }, { "redirect_uris.0": uris }],
    ["a long redirect", { redirectUris: [`https://example.com/${"a".repeat(2_029)}`] }, { "redirect_uris.0": uris }],
  ])("with %s is refused", async (_, bad, faults) => {
    expect(await faultsOf(apps.createApp({ ...goodApp, ...bad }))).toEqual(faults);
  });

  test("keeps what a change does not name, and refuses a bad change as a bad app", async () => {
    const { app } = await newApp();
    now += 1_000_000;
    const change = async (what: AppChange) => (await apps.updateApp({ appId: app.id, ...what })).app;
    expect(await change({})).toEqual({ ...app, updatedAt: toTimestamp(now) });
    const renamed = await change({ name: "New", scopes: ["apps:read", "apps:read"] });
    expect(renamed).toMatchObject({ name: "New", scopes: ["apps:read"], description: app.description });
    expect(renamed).toMatchObject({ homepageUrl: app.homepageUrl, redirectUris: app.redirectUris });
    const bare = await change({ description: "", homepageUrl: "", redirectUris: ["https://example.com/b"] });
    expect(bare).toMatchObject({ name: "New", description: "", redirectUris: ["https://example.com/b"] });
    expect(bare?.homepageUrl).toBeUndefined();
    const bad = { name: "", scopes: ["x"], redirectUris: ["http://localhost/"], status: 9 as AppStatus };
    expect(await faultsOf(change(bad))).toEqual({
      name: "parameter_invalid",
      "scopes.0": "parameter_invalid",
      "redirect_uris.0": "parameter_invalid",
      status: "parameter_invalid",
    });
    expect((await apps.getApp({ appId: app.id })).app).toEqual(bare);
    expect(await codeOf(apps.updateApp({ appId: newId("app"), name: "x" }))).toBe("resource_not_found");
  });

  test("is listed in pages, alone or as installed in a property", async () => {
    const made = [await newApp(), await newApp(), await newApp()].map(({ app }) => app);
    const [first, second, third] = made as [App, App, App];
    await install(first.id);
    const gone = await install(second.id);
    await apps.endInstallation({
      propertyId: gone.propertyId,
      installationId: gone.id,
      reason: RevokedReason.OPERATOR,
    });
    await install(third.id);
    const found: App[] = [];
    for (let hasMore = true; hasMore;) {
      const page = await apps.listApps({ limit: 2, ...(found.length > 0 && { afterAppId: found.at(-1)?.id ?? "" }) });
      found.push(...page.apps);
      ({ hasMore } = page);
    }
    expect(found.slice(-3)).toEqual(made);
    const installed = await apps.listApps({ limit: 500, propertyId: properties[0] });
    expect(installed.apps.slice(-2)).toEqual([first, third]);
    const page = { limit: 1, propertyId: properties[0], afterAppId: first.id };
    expect(await apps.listApps(page)).toMatchObject({ apps: [{ id: third.id }], hasMore: false });
    expect((await apps.listApps({ limit: 1, propertyId: properties[1] })).apps).toEqual([]);
    for (const limit of [0, -1, 501]) expect(await faultsOf(apps.listApps({ limit }))).toHaveProperty("limit");
    expect(await faultsOf(apps.listApps({ limit: 1, propertyId: "x" }))).toEqual({ property_id: "invalid_id" });
    expect(await faultsOf(apps.listApps({ limit: 1, afterAppId: "x" }))).toEqual({ after_app_id: "invalid_id" });
  });
});

describe("secrets of an app", () => {
  test("are at most two when twenty are added at once, and one stays when twenty are removed", async () => {
    const { app, secret } = await newApp();
    const twenty = Array.from({ length: 20 }, (_, index) => index);
    const added = await Promise.allSettled(twenty.map((index) => at(index).apps.addAppSecret({ appId: app.id })));
    const answers = added.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    expect(answers.map(({ app: after }) => after?.secrets.length)).toEqual([2]);
    expect(answers[0]?.secret).toMatch(/^cs_[0-9A-Za-z]{43}$/);
    for (const answer of added) {
      if (answer.status === "rejected") expect(answer.reason).toMatchObject({ code: "too_many_items" });
    }
    const hashes = (await oauth.findClient({ appId: app.id })).secretHashes.map((hash) => Buffer.from(hash));
    const both = [secret, answers[0]?.secret].map((each = "") => createHash("sha256").update(each).digest());
    expect(hashes).toEqual(both);
    const ids = (answers[0]?.app?.secrets ?? []).map(({ id }) => id);
    const removed = await Promise.allSettled(
      twenty.map((index) => at(index).apps.removeAppSecret({ appId: app.id, secretId: ids[(index >> 1) % 2] ?? "" })),
    );
    expect(removed.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const { app: after } = await apps.getApp({ appId: app.id });
    expect(after?.secrets).toHaveLength(1);
    const last = { appId: app.id, secretId: after?.secrets[0]?.id ?? "" };
    expect(await faultsOf(apps.removeAppSecret(last))).toEqual({ secret_id: "invalid_state_transition" });
  });

  test("are of their app alone, and a public app has none", async () => {
    const [one, other] = [await newApp(), await newApp()];
    const secretId = other.app.secrets[0]?.id ?? "";
    const notFound = { secret_id: "resource_not_found" };
    expect(await faultsOf(apps.removeAppSecret({ appId: one.app.id, secretId }))).toEqual(notFound);
    expect(await codeOf(apps.removeAppSecret({ appId: newId("app"), secretId }))).toBe("resource_not_found");
    expect(await codeOf(apps.removeAppSecret({ appId: one.app.id, secretId: "x" }))).toBe("invalid_id");
    expect(await codeOf(apps.addAppSecret({ appId: newId("app") }))).toBe("resource_not_found");
    const { app } = await newApp({ type: AppType.PUBLIC });
    expect(await codeOf(apps.addAppSecret({ appId: app.id }))).toBe("invalid_state_transition");
    expect(await faultsOf(apps.removeAppSecret({ appId: app.id, secretId }))).toEqual(notFound);
  });
});

describe("an installation", () => {
  const read = async ({ id, propertyId }: { id: string; propertyId: string }) =>
    (await apps.getInstallation({ propertyId, installationId: id })).installation;

  test("is read with its app and property, by its own property alone", async () => {
    const { app } = await newApp();
    const made = await install(app.id);
    const answer = await apps.getInstallation({ propertyId: made.propertyId, installationId: made.id });
    expect(answer).toMatchObject({ app, property: { id: made.propertyId } });
    expect(answer.installation).toMatchObject({
      id: made.id,
      appId: app.id,
      propertyId: made.propertyId,
      mode: answer.property?.mode,
      scopes: ["events:read"],
      status: InstallationStatus.ACTIVE,
      revokedReason: RevokedReason.UNSPECIFIED,
      revision: "2026-11-01",
      createdAt: toTimestamp(now),
    });
    expect(answer.installation?.lastUsedAt).toBeUndefined();
    const wrong = { propertyId: properties[1], installationId: made.id };
    const unknown = { ...wrong, installationId: newId("inst") };
    const [ofOther, ofNone] = [
      await refusalOf(apps.getInstallation(wrong)),
      await refusalOf(apps.getInstallation(unknown)),
    ];
    expect([ofOther.code, ofOther.message, ofOther.param]).toEqual([ofNone.code, ofNone.message, ofNone.param]);
    expect(ofNone).toMatchObject({ code: "resource_not_found", param: "installation_id" });
    const ending = { ...wrong, reason: RevokedReason.OPERATOR };
    expect(await codeOf(apps.endInstallation(ending))).toBe("resource_not_found");
    expect(await read(made)).toMatchObject({ status: InstallationStatus.ACTIVE });
    expect(takeEnded()).toEqual([]);
  });

  test("is listed by property, by app and by both, in pages, after it ended too", async () => {
    const { app } = await newApp();
    const made = [await install(app.id), await install(app.id, properties[1])];
    const [one, two] = made as [(typeof made)[0], (typeof made)[0]];
    await apps.endInstallation({ propertyId: one.propertyId, installationId: one.id, reason: RevokedReason.OPERATOR });
    const list = async (request: { propertyId?: string; appId?: string; limit: number; after?: string }) => {
      const { after: afterInstallationId, ...rest } = request;
      const page = await apps.listInstallations({ ...rest, ...(afterInstallationId && { afterInstallationId }) });
      return [...page.installations.map(({ id }) => id), page.hasMore];
    };
    expect(await list({ appId: app.id, limit: 1 })).toEqual([one.id, true]);
    expect(await list({ appId: app.id, limit: 1, after: one.id })).toEqual([two.id, false]);
    expect(await list({ appId: app.id, propertyId: two.propertyId, limit: 5 })).toEqual([two.id, false]);
    expect(await list({ propertyId: one.propertyId, limit: 500 })).toContain(one.id);
    expect(await list({ propertyId: one.propertyId, limit: 500 })).not.toContain(two.id);
    expect(await faultsOf(apps.listInstallations({ limit: 1 }))).toEqual({ property_id: "parameter_missing" });
    expect(await faultsOf(apps.listInstallations({ limit: 501, appId: app.id }))).toHaveProperty("limit");
    expect(await codeOf(apps.listInstallations({ limit: 1, appId: "x" }))).toBe("invalid_id");
    const after = { limit: 1, appId: app.id, afterInstallationId: "x" };
    expect(await faultsOf(apps.listInstallations(after))).toEqual({ after_installation_id: "invalid_id" });
  });

  test("ends once, for one of two reasons, and gateways hear of it", async () => {
    const made = await install((await newApp()).app.id);
    const name = { propertyId: made.propertyId, installationId: made.id };
    for (const reason of [RevokedReason.UNSPECIFIED, RevokedReason.SUSPENDED, RevokedReason.TOKEN_REUSE]) {
      expect(await faultsOf(apps.endInstallation({ ...name, reason }))).toEqual({ reason: "parameter_invalid" });
    }
    const endedAt = now;
    const { installation } = await apps.endInstallation({ ...name, reason: RevokedReason.UNINSTALLED });
    expect(installation).toMatchObject({
      status: InstallationStatus.REVOKED,
      revokedReason: RevokedReason.UNINSTALLED,
      revokedAt: toTimestamp(endedAt),
    });
    now += 1_000_000;
    const again = await apps.endInstallation({ ...name, reason: RevokedReason.OPERATOR });
    expect(again.installation).toEqual(installation);
    expect(takeEnded()).toEqual([made.id]);
  });

  test("of a suspended app ends, in each property, and none is left by a consent at the same moment", async () => {
    for (let round = 0; round < 5; round++) {
      takeEnded();
      const { app } = await newApp();
      const before = await install(app.id, properties[0]);
      const attempts = Array.from({ length: 8 }, (_, index) =>
        install(app.id, properties[index % 2], index).catch((error: unknown) => error),
      );
      const suspend = at(round).apps.updateApp({ appId: app.id, status: AppStatus.SUSPENDED });
      const outcomes = await Promise.all(attempts);
      await suspend;
      for (const outcome of outcomes) {
        if (outcome instanceof Error) expect(outcome).toMatchObject({ code: "invalid_state_transition" });
      }
      const { installations } = await apps.listInstallations({ limit: 10, appId: app.id });
      for (const each of installations) {
        expect(each).toMatchObject({ status: InstallationStatus.REVOKED, revokedReason: RevokedReason.SUSPENDED });
      }
      if (round % 2 === 0) expect(takeEnded()).toEqual(expect.arrayContaining(installations.map(({ id }) => id)));
      expect(installations.map(({ id }) => id)).toContain(before.id);
      expect(await codeOf(install(app.id))).toBe("invalid_state_transition");
      // It can be installed again when it is active, and what had ended stays so until then.
      await apps.updateApp({ appId: app.id, status: AppStatus.ACTIVE });
      expect(await read(before)).toMatchObject({ status: InstallationStatus.REVOKED });
      expect((await install(app.id)).id).toBe(before.id);
      expect(await read(before)).toMatchObject({
        status: InstallationStatus.ACTIVE,
        revokedReason: RevokedReason.UNSPECIFIED,
      });
    }
  });
});
