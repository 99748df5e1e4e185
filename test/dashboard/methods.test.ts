/** Who may call which method of the dashboard, and what a call shows and leaves behind. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Role } from "#proto/daybook/identity/v1/members_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { systemClock } from "#shared/values/clock.ts";
import { serviceMethods } from "../../gateway/dashboard/methods.ts";
import { newInstalledApp } from "../support/apps.ts";
import { startSingleProcess, testCall, type SingleProcess, type TestProperty } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";
import { callAs, cookiesOf, newBrowser, openBrowser, sendForm, type Browser } from "../support/dashboard-http.ts";
import { password } from "../support/members.ts";

const owner = new Owner();
let daybook: SingleProcess;
let property: TestProperty;
let other: TestProperty;
let clockAheadMs = 0;
const clock = { nowMicros: () => systemClock.nowMicros() + clockAheadMs * 1000 };

const roles = { admin: Role.ADMIN, developer: Role.DEVELOPER, support: Role.SUPPORT, viewer: Role.VIEWER } as const;
type RoleName = keyof typeof roles;
/** Of one property each; `root` is an admin of all. */
const browsers = {} as Record<RoleName | "root" | "stranger", Browser>;

const everyone: readonly RoleName[] = ["admin", "developer", "support", "viewer"];
const [admins, developers, supporters] = [["admin"], ["admin", "developer"], ["admin", "support"]] as const;
/** Roles in a property that may call a method; `root` for admins of all properties, `own` for every member. */
const allowed: Readonly<Record<string, readonly RoleName[] | "root" | "own">> = {
  "daybook.event.v1.EventService/ListEvents": everyone,
  "daybook.event.v1.EventService/GetEvents": everyone,
  "daybook.event.v1.EventService/GetWatermark": everyone,
  "daybook.event.v1.EventService/GetLastEvents": everyone,
  "daybook.event.v1.EventService/CountProfileEvents": everyone,
  "daybook.event.v1.EventService/CountRecentEvents": everyone,
  "daybook.event.v1.EventService/GetEventJob": developers,
  "daybook.event.v1.EventService/ListEventJobs": developers,
  "daybook.event.v1.EventService/ListEventJobErrors": developers,
  "daybook.profile.v1.ProfileService/GetProfiles": everyone,
  "daybook.profile.v1.ProfileService/FindProfiles": everyone,
  "daybook.profile.v1.ProfileService/PreviewMerge": everyone,
  "daybook.profile.v1.ProfileService/ListProfiles": everyone,
  "daybook.profile.v1.ProfileService/GetMergedProfiles": everyone,
  "daybook.profile.v1.ProfileService/ListMerges": everyone,
  "daybook.profile.v1.ProfileService/GetAttributeSchema": everyone,
  "daybook.profile.v1.ProfileService/GetImportJob": developers,
  "daybook.profile.v1.ProfileService/ListImportJobs": developers,
  "daybook.profile.v1.ProfileService/ListImportedProfiles": developers,
  "daybook.profile.v1.ProfileService/ListImportErrors": developers,
  "daybook.profile.v1.ProfileService/UpdateTags": supporters,
  "daybook.profile.v1.ProfileService/UpdateProfile": supporters,
  "daybook.profile.v1.ProfileService/AddIdentifier": supporters,
  "daybook.profile.v1.ProfileService/PromoteIdentifier": supporters,
  "daybook.profile.v1.ProfileService/RemoveIdentifier": supporters,
  "daybook.profile.v1.ProfileService/MergeProfiles": supporters,
  "daybook.profile.v1.ProfileService/RedactProfile": supporters,
  "daybook.metric.v1.MetricService/GetMetrics": everyone,
  "daybook.metric.v1.MetricService/ListMetrics": everyone,
  "daybook.metric.v1.MetricService/AggregateMetric": everyone,
  "daybook.metric.v1.MetricService/DescribeActivity": everyone,
  "daybook.metric.v1.MetricService/ListSparklines": everyone,
  "daybook.metric.v1.MetricService/CreateMetric": developers,
  "daybook.metric.v1.MetricService/UpdateMetric": developers,
  "daybook.metric.v1.MetricService/DescribeRollups": everyone,
  "daybook.metric.v1.MetricService/RebuildRollups": "root",
  "daybook.identity.v1.IdentityService/ListKeys": developers,
  "daybook.identity.v1.IdentityService/GetKey": developers,
  "daybook.identity.v1.IdentityService/ListRateWindows": developers,
  "daybook.identity.v1.IdentityService/CreateKey": developers,
  "daybook.identity.v1.IdentityService/RotateKey": developers,
  "daybook.identity.v1.IdentityService/RevokeKey": developers,
  "daybook.identity.v1.IdentityService/UpdateProperty": admins,
  "daybook.identity.v1.IdentityService/ListProperties": "root",
  "daybook.identity.v1.IdentityService/CreateProperty": "root",
  "daybook.identity.v1.AppService/ListApps": developers,
  "daybook.identity.v1.AppService/GetApp": "root",
  "daybook.identity.v1.AppService/CreateApp": "root",
  "daybook.identity.v1.AppService/UpdateApp": "root",
  "daybook.identity.v1.AppService/AddAppSecret": "root",
  "daybook.identity.v1.AppService/RemoveAppSecret": "root",
  "daybook.identity.v1.AppService/GetInstallation": developers,
  "daybook.identity.v1.AppService/ListInstallations": developers,
  "daybook.identity.v1.AppService/EndInstallation": developers,
  "daybook.identity.v1.MemberService/ConfirmPassword": "own",
  "daybook.identity.v1.MemberService/ChangePassword": "own",
  "daybook.identity.v1.MemberService/ListSessions": "own",
  "daybook.identity.v1.MemberService/EndSession": "own",
  "daybook.identity.v1.MemberService/ListMembers": "root",
  "daybook.identity.v1.MemberService/ListInvitations": "root",
  "daybook.identity.v1.MemberService/InviteMember": "root",
  "daybook.identity.v1.MemberService/UpdateMember": "root",
  "daybook.identity.v1.MemberService/RemoveMember": "root",
  "daybook.identity.v1.MemberService/RevokeInvitation": "root",
  "daybook.identity.v1.MemberService/ListAudit": admins,
  "daybook.webhook.v1.WebhookService/ListEndpoints": developers,
  "daybook.webhook.v1.WebhookService/GetEndpoint": developers,
  "daybook.webhook.v1.WebhookService/DescribeEndpoints": developers,
  "daybook.webhook.v1.WebhookService/CreateEndpoint": developers,
  "daybook.webhook.v1.WebhookService/UpdateEndpoint": developers,
  "daybook.webhook.v1.WebhookService/DeleteEndpoint": developers,
  "daybook.webhook.v1.WebhookService/RotateEndpointSecret": developers,
  "daybook.webhook.v1.WebhookService/TestEndpoint": developers,
  "daybook.webhook.v1.WebhookService/CreateReplay": developers,
  "daybook.webhook.v1.WebhookService/ListDeliveries": developers,
  "daybook.webhook.v1.WebhookService/GetDelivery": developers,
  "daybook.webhook.v1.WebhookService/RetryDelivery": developers,
  "daybook.webhook.v1.WebhookService/RotateAppWebhookSecret": "root",
  "daybook.event.v1.RejectedWriteService/ListRejectedWrites": developers,
  "daybook.event.v1.RejectedWriteService/GetRejectedWrite": developers,
  "daybook.event.v1.RejectedWriteService/SummarizeRejectedWrites": developers,
  "daybook.event.v1.RejectedWriteService/GetRejectedWriteSettings": developers,
  "daybook.event.v1.RejectedWriteService/UpdateRejectedWriteSettings": admins,
  "daybook.profile.v1.PrivacyService/ListPrivacyRequests": supporters,
  "daybook.profile.v1.PrivacyService/GetPrivacyRequest": supporters,
  "daybook.profile.v1.PrivacyService/CreatePrivacyRequest": supporters,
  "daybook.profile.v1.PrivacyService/CancelPrivacyRequest": supporters,
  "daybook.profile.v1.PrivacyService/RetryPrivacyRequest": supporters,
  "daybook.profile.v1.PrivacyService/ListSuppressions": supporters,
  "daybook.profile.v1.PrivacyService/DeleteSuppression": supporters,
  "event/daybook.common.v1.BusService/DescribeBus": "root",
  "event/daybook.common.v1.BusService/Republish": "root",
  "event/daybook.common.v1.BusService/RetryDeadLetters": "root",
  "metric/daybook.common.v1.BusService/DescribeBus": "root",
  "metric/daybook.common.v1.BusService/Republish": "root",
  "metric/daybook.common.v1.BusService/RetryDeadLetters": "root",
  "profile/daybook.common.v1.BusService/DescribeBus": "root",
  "profile/daybook.common.v1.BusService/Republish": "root",
  "profile/daybook.common.v1.BusService/RetryDeadLetters": "root",
};
const ownAllowed: Readonly<Record<string, readonly RoleName[] | "root" | "own">> = {
  "daybook.dashboard.v1.DashboardService/GetViewer": "own",
  "daybook.dashboard.v1.DashboardService/RevealProfile": supporters,
  "daybook.dashboard.v1.DashboardService/RevealRejectedWrite": admins,
  "daybook.dashboard.v1.DashboardService/PrepareDownload": supporters,
  "daybook.dashboard.v1.DashboardService/DescribeProcesses": "root",
};

beforeAll(async () => {
  daybook = await startSingleProcess(owner, { clock });
  [property, other] = [await daybook.newProperty(), await daybook.newProperty()];
  const { propertyId } = property;
  for (const name of everyone) browsers[name] = await newBrowser(daybook, [{ propertyId, role: roles[name] }]);
  browsers.root = await newBrowser(daybook);
  browsers.stranger = await newBrowser(daybook, [{ propertyId: other.propertyId, role: Role.ADMIN }]);
}, 120_000);

afterAll(() => owner.close());

describe("every method", () => {
  test("of the allow-list is one of this test, and the other way round", () => {
    expect(serviceMethods.map(({ path }) => path).toSorted()).toEqual(Object.keys(allowed).toSorted());
  });

  test.each(Object.entries({ ...allowed, ...ownAllowed }))("%s is for its roles only", async (path, may) => {
    const request = { propertyId: property.propertyId };
    // These act on all properties unless one is named.
    const body = path.endsWith("RebuildRollups") || may !== "root" ? request : {};
    const codes: Record<string, string | undefined> = {};
    for (const [name, browser] of Object.entries(browsers)) {
      // The message of a service that takes the request for a bad one is as good as an answer.
      const { code, text } = await browser.call(path, body);
      const isRefused = code === "missing_scope" || text.includes("no such property");
      codes[name] = isRefused ? code : "allowed";
    }
    const expected = (name: RoleName): string => {
      if (may === "root") return "missing_scope";
      return may === "own" || may.includes(name) ? "allowed" : "missing_scope";
    };
    const byRole = Object.fromEntries(everyone.map((name) => [name, expected(name)]));
    const stranger = may === "own" ? "allowed" : may === "root" ? "missing_scope" : "resource_not_found";
    expect(codes).toEqual({ ...byRole, root: "allowed", stranger });
    expect((await callAs(daybook.baseUrl, undefined, path, body)).code).toBe("sign_in_required");
  });

  test("of a property is refused in the same bytes whether the property exists or not", async () => {
    const path = "daybook.event.v1.EventService/ListEvents";
    const foreign = await browsers.viewer.call(path, { propertyId: other.propertyId });
    const unknown = await browsers.viewer.call(path, { propertyId: "prop_01h455vb4pex5vsknk084sn02q" });
    expect([foreign.status, foreign.code, foreign.text]).toEqual([404, "resource_not_found", unknown.text]);
  });

  test("that is not in the list is unknown in the same bytes, whether it exists or not", async () => {
    const paths = [
      "daybook.event.v1.EventService/RecordEvents",
      "daybook.identity.v1.MemberService/SignIn",
      "daybook.identity.v1.MemberService/RecordAudit",
      "daybook.identity.v1.IdentityService/AuthenticateKey",
      "daybook.profile.v1.PrivacyService/OpenExport",
      "daybook.profile.v1.PrivacyService/ReportPrivacyWork",
      "daybook.event.v1.RejectedWriteService/RecordRejectedWrites",
      "daybook.identity.v1.IdentityService/listKeys",
      "daybook.identity.v1.ClientService/CreateClient",
      "daybook.common.v1.BusService/DescribeBus",
      "nothing",
    ];
    const answers = await Promise.all(paths.map((path) => browsers.root.call(path)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect([answers[0]?.status, answers[0]?.code]).toEqual([404, "unknown_method"]);
  });

  test("is not opened by a key, and a session opens nothing of the API", async () => {
    const key = { authorization: `Bearer ${property.secret}` };
    const path = "daybook.event.v1.EventService/ListEvents";
    expect((await callAs(daybook.baseUrl, undefined, path, {}, key)).code).toBe("sign_in_required");
    for (const api of ["/v1/events", "/api/events"]) {
      const answer = await fetch(daybook.baseUrl + api, { headers: { cookie: browsers.root.cookie } });
      expect([api, answer.status]).toEqual([api, 401]);
    }
  });
});

describe("requests of other sites", () => {
  const path = "daybook.event.v1.EventService/ListEvents";
  test.each([
    ["of another site", { "sec-fetch-site": "cross-site" }, 403],
    ["of another host of the same site", { "sec-fetch-site": "same-site" }, 403],
    ["typed by a user", { "sec-fetch-site": "none" }, 403],
    ["with two values", { "sec-fetch-site": "same-origin, cross-site" }, 403],
    ["of another port", { "sec-fetch-site": "", origin: "http://127.0.0.1:1" }, 403],
    ["a text", { "content-type": "text/plain" }, 415],
    ["a form", { "content-type": "application/x-www-form-urlencoded" }, 415],
    ["JSON of a name that only begins so", { "content-type": "application/jsonp" }, 415],
  ])("%s are refused", async (_, headers, status) => {
    const { propertyId } = property;
    const good = await browsers.viewer.call(path, { propertyId, limit: 1, sort: 1 });
    expect([good.status, good.code]).toEqual([200, undefined]);
    expect((await browsers.viewer.call(path, { propertyId, limit: 1, sort: 1 }, headers)).status).toBe(status);
  });

  test("without Sec-Fetch-Site need our origin", async () => {
    const send = async (origin: Record<string, string>): Promise<number> => {
      const { cookie } = browsers.viewer;
      const headers = { cookie, "content-type": "application/json", ...origin };
      const url = `${daybook.baseUrl}/dashboard/rpc/daybook.dashboard.v1.DashboardService/GetViewer`;
      return (await fetch(url, { method: "POST", headers, body: "{}" })).status;
    };
    // fetch of Node sends `sec-fetch-mode` only.
    expect(await send({})).toBe(403);
    expect(await send({ origin: "null" })).toBe(403);
    expect(await send({ origin: daybook.baseUrl })).toBe(200);
  });
});

describe("values of identifiers", () => {
  const secret = "zz-very-secret";
  const email = `${secret}@example.com`;

  test("leave with no answer but that of RevealProfile, which is audited", async () => {
    const { propertyId } = property;
    const made = await property.post("/v1/profiles", {
      identifiers: [
        { type: "email", value: email },
        { type: "external_id", value: `${secret}-id` },
      ],
      attributes: { plan: "gold", $email: email },
    });
    const profileId = made.body.data.id as string;
    const identifierId = made.body.data.identifier_ids[0] as string;
    const base = "daybook.profile.v1.ProfileService/";
    const request = { propertyId, profileId };
    const calls: [path: string, body: object][] = [
      [`${base}GetProfiles`, { propertyId, profileIds: [profileId] }],
      [`${base}ListProfiles`, { propertyId, limit: 10, sort: 1 }],
      [`${base}ListProfiles`, { propertyId, limit: 10, sort: 1, identifiers: [{ type: "email", value: email }] }],
      [`${base}FindProfiles`, { propertyId, text: email }],
      [`${base}UpdateTags`, { ...request, add: ["vip"] }],
      [`${base}UpdateProfile`, { ...request, attributesJson: '{"a":1}' }],
      [`${base}AddIdentifier`, { ...request, identifier: { type: "email", value: `other-${email}` } }],
      [`${base}PromoteIdentifier`, { ...request, identifierId }],
    ];
    for (const [path, body] of calls) {
      for (const browser of [browsers.viewer, browsers.support]) {
        const { text, code } = await browser.call(path, body);
        expect([path, text.includes(secret)]).toEqual([path, false]);
        if (browser === browsers.support)
          expect([path, code, text.includes(profileId)]).toEqual([path, undefined, true]);
      }
    }
    const revealed = await browsers.support.call("daybook.dashboard.v1.DashboardService/RevealProfile", request);
    expect(revealed.text).toContain(email);
    const { body } = await browsers.admin.call("daybook.identity.v1.MemberService/ListAudit", { propertyId, limit: 1 });
    expect(body.entries).toMatchObject([
      {
        memberId: browsers.support.memberId,
        action: "daybook.dashboard.v1.DashboardService/RevealProfile",
        targetIds: [profileId],
        succeeded: true,
      },
    ]);
    const audit = await browsers.admin.call("daybook.identity.v1.MemberService/ListAudit", { propertyId, limit: 500 });
    expect(audit.text).not.toContain(secret);
  });

  test("cannot be learned from the order of profiles", async () => {
    const path = "daybook.profile.v1.ProfileService/ListProfiles";
    const { propertyId } = property;
    const position = { profileId: "prof_01h455vb4pex5vsknk084sn02q", email: "m" };
    const [byOrder, byPlace] = [{ sort: "PROFILE_SORT_EMAIL" }, { sort: "PROFILE_SORT_ID", after: position }];
    for (const query of [byOrder, byPlace]) {
      expect((await browsers.viewer.call(path, { propertyId, limit: 1, ...query })).code).toBe("unsupported_sort");
    }
  });

  test("cannot be guessed by the hundred", async () => {
    const path = "daybook.profile.v1.ProfileService/ListProfiles";
    const { propertyId } = property;
    const anyIdentifiers = ["1", "2"].map((last) => ({ type: "phone", value: `+4915112345${last}` }));
    const codes = await Promise.all(
      everyone.map(async (name) => (await browsers[name].call(path, { propertyId, limit: 1, anyIdentifiers })).code),
    );
    const mayReveal: readonly RoleName[] = supporters;
    expect(codes).toEqual(everyone.map((name) => (mayReveal.includes(name) ? undefined : "missing_scope")));
    const one = { propertyId, limit: 1, anyIdentifiers: anyIdentifiers.slice(1) };
    expect((await browsers.viewer.call(path, one)).status).toBe(200);
  });

  test("cannot be had by a key that a developer makes or rotates", async () => {
    const { propertyId } = property;
    const path = "daybook.identity.v1.IdentityService/";
    const make = (scopes: string[]) => ({ propertyId, name: "mine", scopes });
    const { developer, admin } = browsers;
    expect((await developer.call(`${path}CreateKey`, make(["events:write", "profiles:write"]))).status).toBe(200);
    expect((await developer.call(`${path}CreateKey`, make(["identifiers:read_value"]))).code).toBe("missing_scope");
    const all = { propertyId, name: "all", allScopes: true };
    expect((await developer.call(`${path}CreateKey`, all)).code).toBe("missing_scope");
    const { keyId } = property;
    expect((await developer.call(`${path}RotateKey`, { propertyId, keyId })).code).toBe("missing_scope");
    const made = await admin.call(`${path}CreateKey`, all);
    expect(made.body.secret).toMatch(/^sk_test_/);
    expect((await admin.call(`${path}RotateKey`, { propertyId, keyId: made.body.key.id })).status).toBe(200);
  });
});

describe("apps", () => {
  const base = "daybook.identity.v1.AppService/";

  test("are read and changed by who manages those of all properties, in one property only what is installed there", async () => {
    const { propertyId } = property;
    const [here, elsewhere] = [
      await newInstalledApp(daybook, propertyId),
      await newInstalledApp(daybook, other.propertyId),
    ];
    const everywhere = await newBrowser(daybook, [{ role: Role.DEVELOPER }]);
    const { developer } = browsers;
    const page = { limit: 500 };
    const all = await everywhere.call(`${base}ListApps`, page);
    for (const { app } of [here, elsewhere]) expect(all.text).toContain(app.id);
    const ofApp = { ...page, appId: elsewhere.app.id };
    expect((await everywhere.call(`${base}ListInstallations`, ofApp)).text).toContain(elsewhere.installationId);
    for (const [path, body] of [
      ["ListApps", page],
      ["ListInstallations", ofApp],
      ["GetApp", { appId: here.app.id }],
    ] as const) {
      expect([path, (await developer.call(base + path, body)).code]).toEqual([path, "missing_scope"]);
    }
    for (const [path, body] of [
      ["ListApps", { ...page, propertyId }],
      ["ListInstallations", { ...page, propertyId }],
      ["ListInstallations", { ...ofApp, propertyId }],
    ] as const) {
      const { status, text } = await developer.call(base + path, body);
      expect([status, text.includes(elsewhere.app.id), text.includes(elsewhere.installationId)]).toEqual([
        200,
        false,
        false,
      ]);
    }
    for (const path of ["GetInstallation", "EndInstallation"]) {
      const { installationId } = elsewhere;
      const answer = await developer.call(base + path, { propertyId, installationId });
      expect([path, answer.code]).toEqual([path, "resource_not_found"]);
    }
  });

  test("tell a property nothing of their secrets, and end there as its people end them", async () => {
    const { propertyId } = property;
    const { app, installationId } = await newInstalledApp(daybook, propertyId);
    const prefix = app.secrets[0]?.displayPrefix ?? "";
    const read = await browsers.root.call(`${base}GetApp`, { appId: app.id });
    expect(read.text).toContain(prefix);
    const { developer } = browsers;
    for (const [path, body] of [
      ["ListApps", { propertyId, limit: 500 }],
      ["GetInstallation", { propertyId, installationId }],
    ] as const) {
      const { text } = await developer.call(base + path, body);
      expect([path, text.includes(app.id), text.includes(prefix)]).toEqual([path, true, false]);
    }
    const ended = await developer.call(`${base}EndInstallation`, {
      propertyId,
      installationId,
      reason: "REVOKED_REASON_OPERATOR",
    });
    expect(ended.body.installation.revokedReason).toBe("REVOKED_REASON_UNINSTALLED");
    const { body } = await browsers.admin.call("daybook.identity.v1.MemberService/ListAudit", { propertyId, limit: 1 });
    expect(body.entries).toMatchObject([
      { memberId: developer.memberId, action: `${base}EndInstallation`, targetIds: [installationId], succeeded: true },
    ]);
  });
});

describe("her own account", () => {
  test("is the browser's own, whatever the browser says", async () => {
    const [ada, eve] = [await newBrowser(daybook), await newBrowser(daybook)];
    const path = "daybook.identity.v1.MemberService/";
    const { body } = await ada.call(`${path}ListSessions`);
    const sessionId = body.sessions[0].id as string;
    const foreign = await eve.call(`${path}ListSessions`, { memberId: ada.memberId });
    expect(foreign.text).not.toContain(ada.memberId);
    await eve.call(`${path}EndSession`, { memberId: ada.memberId, sessionId });
    expect((await eve.call(`${path}ConfirmPassword`, { sessionId, password: "wrong" })).code).toBe("wrong_password");
    expect((await ada.call(`${path}ListSessions`)).body.sessions).toHaveLength(1);
  });

  test("ends with SignOut at once, and with its end elsewhere", async () => {
    const ada = await newBrowser(daybook);
    const path = "daybook.identity.v1.MemberService/";
    expect((await ada.call(`${path}ListSessions`)).status).toBe(200);
    const out = await ada.call("daybook.dashboard.v1.DashboardService/SignOut");
    expect(out.headers.get("set-cookie")).toMatch(/=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax$/);
    expect((await ada.call(`${path}ListSessions`)).code).toBe("sign_in_required");
    const eve = await newBrowser(daybook);
    await eve.call(`${path}ListSessions`);
    await daybook.clients.members.removeMember({ memberId: eve.memberId }, testCall);
    // Within a second, because of signals that came just before. Without a signal it would take five.
    const isOut = async (): Promise<true | undefined> =>
      (await eve.call(`${path}ListSessions`)).code === "sign_in_required" || undefined;
    await eventually(isOut, { timeoutMs: 3_000 });
  });
});

test("what is sensitive needs a sign-in of the last minutes, and refused attempts are audited", async () => {
  const { propertyId } = property;
  const ada = await newBrowser(daybook, [{ propertyId, role: Role.ADMIN }]);
  const sensitive: [path: string, body: object][] = [
    ["daybook.identity.v1.IdentityService/RevokeKey", { propertyId, keyId: "key_01h455vb4pex5vsknk084sn02q" }],
    ["daybook.profile.v1.ProfileService/RedactProfile", { propertyId, profileId: "prof_01h455vb4pex5vsknk084sn02q" }],
    [
      "daybook.identity.v1.AppService/EndInstallation",
      { propertyId, installationId: "inst_01h455vb4pex5vsknk084sn02q" },
    ],
    [
      "daybook.webhook.v1.WebhookService/RotateEndpointSecret",
      { propertyId, endpointId: "hook_01h455vb4pex5vsknk084sn02q" },
    ],
    [
      "daybook.profile.v1.PrivacyService/RetryPrivacyRequest",
      { propertyId, privacyRequestId: "priv_01h455vb4pex5vsknk084sn02q" },
    ],
  ];
  clockAheadMs += 11 * 60_000;
  for (const [path, body] of sensitive) {
    expect((await ada.call(path, body)).code).toBe("sign_in_again");
    expect((await browsers.viewer.call(path, body)).code).toBe("missing_scope");
  }
  const audit = await ada.call("daybook.identity.v1.MemberService/ListAudit", {
    propertyId,
    limit: 2 * sensitive.length,
  });
  const entries = audit.body.entries as {
    action: string;
    memberId: string;
    targetIds: string[];
    succeeded?: boolean;
  }[];
  const attempts = entries.map(({ action, memberId, targetIds, succeeded = false }) => [
    action,
    memberId,
    targetIds[0]?.slice(0, 4),
    succeeded,
  ]);
  const expected = sensitive.flatMap(([path], index) =>
    [ada, browsers.viewer].map(({ memberId }) => [
      path,
      memberId,
      ["key_", "prof", "inst", "hook", "priv"][index],
      false,
    ]),
  );
  expect(attempts).toEqual(expected.toReversed());
  expect((await ada.call("daybook.identity.v1.MemberService/ConfirmPassword", { password })).status).toBe(200);
  for (const [path, body] of sensitive) expect((await ada.call(path, body)).code).toBe("resource_not_found");
});

test("a member has a limit of requests, over all of her sessions", async () => {
  const ada = await newBrowser(daybook);
  const signInAgain = async (): Promise<Browser> => {
    const login = await sendForm(`${daybook.baseUrl}/dashboard/sign-in`, { email: ada.email, password });
    return openBrowser(daybook.baseUrl, ada.email, cookiesOf(login));
  };
  // None of the three asks more than 600 times.
  const sessions = [ada, await signInAgain(), await signInAgain()];
  const path = "daybook.identity.v1.MemberService/ListSessions";
  // In one of the two minutes that they may fall into there are more than 600.
  const statuses = new Set<number>();
  const ask = async (): Promise<void> => {
    for (let asked = 0; asked < 17; asked++) {
      for (const session of sessions) statuses.add((await session.call(path)).status);
    }
  };
  await Promise.all(Array.from({ length: 25 }, ask));
  expect(statuses).toEqual(new Set([200, 429]));
  expect((await browsers.viewer.call(path)).status).toBe(200);
});
