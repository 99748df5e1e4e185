/** Which apps are installed: to a key all of its property, to an access token its own. */
import { expect, test } from "vitest";
import { AppStatus, AppType } from "#proto/daybook/identity/v1/apps_pb.ts";
import { Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import { newId } from "#shared/values/ids.ts";
import { newestRevision } from "#shared/values/revisions.ts";
import type { Answer, Api } from "../support/api.ts";
import { installApp, newApp } from "../support/apps.ts";
import { describeEverywhere, describeOnce, testCall } from "../support/daybook.ts";

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
const idsOf = ({ body }: Answer): string[] => body.data.map(({ id }: { id: string }) => id);
/** An answer without what is of one request. */
const comparable = ({ status, text, body }: Answer): unknown => [
  status,
  text.replaceAll(body.error?.request_id ?? body.meta?.request_id, ""),
];

describeEverywhere("an app that is installed", (daybook) => {
  test("is shown with its installation, to a key and to its token, without what is known of its secrets", async () => {
    const property = await daybook().newProperty({ mode: Mode.LIVE, scopes: ["apps:read"] });
    const { apps, oauth } = daybook().clients;
    const { app, secret = "" } = await apps.createApp(
      {
        name: "Parcels",
        description: "Where they are",
        homepageUrl: "https://parcels.example.com/about",
        redirectUris: ["https://parcels.example.com/callback", "https://parcels.example.com/other"],
        scopes: ["apps:read", "events:read", "events:write"],
        type: AppType.CONFIDENTIAL,
        webhook: { url: "https://parcels.example.com/daybook", types: ["event.recorded"] },
      },
      testCall,
    );
    const appId = app?.id ?? "";
    const memberId = newId("mem");
    const { propertyId } = property;
    const scopes = ["apps:read", "events:read"];
    await oauth.installApp({ appId, propertyId, scopes, memberId }, testCall);
    const installation = await installApp(daybook(), propertyId, { appId, scopes });
    const token = await installation.newToken();
    for (const api of [property, token]) {
      const shownApp = {
        id: appId,
        object: "app",
        name: "Parcels",
        description: "Where they are",
        homepage_url: "https://parcels.example.com/about",
        redirect_uris: ["https://parcels.example.com/callback", "https://parcels.example.com/other"],
        scopes: ["apps:read", "events:read", "events:write"],
        webhook: { url: "https://parcels.example.com/daybook", types: ["event.recorded"] },
        type: "confidential",
        status: "active",
        created_at: time,
        updated_at: time,
      };
      const shownInstallation = {
        id: installation.installationId,
        object: "installation",
        app_id: appId,
        property_id: propertyId,
        livemode: true,
        scopes,
        status: "active",
        revoked_reason: null,
        installed_by: expect.stringMatching(/^mem_/),
        revision: newestRevision,
        created_at: time,
        updated_at: time,
        revoked_at: null,
        // Of these requests it may be told already.
        last_used_at: expect.toSatisfy((at) => at === null || typeof at === "string"),
      };
      for (const [path, shown] of [
        ["/v1/apps", shownApp],
        ["/v1/installations", shownInstallation],
      ] as const) {
        const list = await api.get(path);
        const one = await api.get(`${path}/${shown.id}`);
        expect([list.status, list.body.data]).toEqual([200, [shown]]);
        expect(list.body.meta.page).toEqual({ limit: 50, has_more: false, next_cursor: null });
        expect([one.status, one.body.data]).toEqual([200, shown]);
        expect(one.body.meta.livemode).toBe(true);
        for (const { text } of [list, one]) expect(text).not.toMatch(new RegExp(`secr_|${secret.slice(0, 12)}`));
      }
    }
  });
});

describeOnce("apps and installations", (daybook) => {
  test("come in pages, oldest first, and a token's pages have its own only", async () => {
    const { propertyId, ...key } = await daybook().newProperty();
    const installations = [];
    for (let count = 0; count < 5; count++) installations.push(await installApp(daybook(), propertyId));
    for (const [path, other, ids] of [
      ["/v1/apps", "/v1/installations", installations.map(({ appId }) => appId)],
      ["/v1/installations", "/v1/apps", installations.map(({ installationId }) => installationId)],
    ] as const) {
      const seen: string[][] = [];
      const cursors: string[] = [];
      for (let query = "?page[limit]=2"; query !== "";) {
        const answer = await key.get(path + query);
        seen.push(idsOf(answer));
        const { has_more: hasMore, next_cursor: cursor } = answer.body.meta.page;
        expect([hasMore, cursor === null]).toEqual([seen.length < 3, seen.length === 3]);
        if (hasMore) cursors.push(cursor);
        query = hasMore ? `?page[limit]=2&page[after]=${cursor}` : "";
      }
      expect(seen).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
      // The key's second page begins behind the second: a token's does too.
      for (const [index, installation] of installations.entries()) {
        const token = await installation.newToken();
        expect(idsOf(await token.get(path))).toEqual([ids[index]]);
        expect(idsOf(await token.get(`${path}?page[after]=${cursors[0]}`))).toEqual(index < 2 ? [] : [ids[index]]);
        const refused = await token.get(`${other}?page[after]=${cursors[0]}`);
        expect([refused.status, refused.body.error.code]).toEqual([400, "invalid_cursor"]);
      }
    }
  });

  test("of others read as ones that never were, with the same bytes", async () => {
    const property = await daybook().newProperty();
    const other = await daybook().newProperty();
    const [own, neighbour, stranger] = [
      await installApp(daybook(), property.propertyId),
      await installApp(daybook(), property.propertyId),
      await installApp(daybook(), other.propertyId),
    ];
    const nowhere = await newApp(daybook());
    const token = await own.newToken();
    const askers: [Api, { apps: string[]; installations: string[] }][] = [
      [property, { apps: [stranger.appId, nowhere], installations: [stranger.installationId] }],
      [
        token,
        {
          apps: [stranger.appId, nowhere, neighbour.appId],
          installations: [stranger.installationId, neighbour.installationId],
        },
      ],
    ];
    for (const [api, others] of askers) {
      for (const [collection, prefix] of [
        ["apps", "app"],
        ["installations", "inst"],
      ] as const) {
        const unknown = await api.get(`/v1/${collection}/${newId(prefix)}`);
        expect([unknown.status, unknown.body.error.code, unknown.body.error.param]).toEqual([
          404,
          "resource_not_found",
          "id",
        ]);
        for (const id of others[collection]) {
          expect(comparable(await api.get(`/v1/${collection}/${id}`))).toEqual(comparable(unknown));
        }
      }
    }
    // An app that both have is in each with the installation of its own.
    const shared = await installApp(daybook(), other.propertyId, { appId: own.appId });
    expect(idsOf(await other.get("/v1/installations"))).toEqual([stranger.installationId, shared.installationId]);
    expect((await other.get(`/v1/apps/${own.appId}`)).status).toBe(200);
    expect((await other.get(`/v1/installations/${own.installationId}`)).status).toBe(404);
  });

  test("that end stay in the list of installations with the reason, and leave that of apps", async () => {
    const api = await daybook().newProperty();
    const { apps } = daybook().clients;
    const ended = await installApp(daybook(), api.propertyId);
    const suspended = await installApp(daybook(), api.propertyId);
    await ended.end();
    await apps.updateApp({ appId: suspended.appId, status: AppStatus.SUSPENDED }, testCall);
    for (const [{ installationId, appId }, reason] of [
      [ended, "uninstalled"],
      [suspended, "suspended"],
    ] as const) {
      const { data } = (await api.get(`/v1/installations/${installationId}`)).body;
      expect(data).toMatchObject({ status: "revoked", revoked_reason: reason, revoked_at: time });
      expect((await api.get(`/v1/apps/${appId}`)).status).toBe(404);
    }
    expect(idsOf(await api.get("/v1/installations"))).toEqual([ended.installationId, suspended.installationId]);
    expect(idsOf(await api.get("/v1/apps"))).toEqual([]);
    const again = await installApp(daybook(), api.propertyId, { appId: ended.appId, scopes: ["apps:read"] });
    expect(again.installationId).toBe(ended.installationId);
    const { data } = (await api.get(`/v1/installations/${again.installationId}`)).body;
    expect(data).toMatchObject({
      status: "active",
      revoked_reason: null,
      revoked_at: null,
      scopes: ["apps:read"],
    });
    expect(idsOf(await api.get("/v1/apps"))).toEqual([ended.appId]);
  });
});
