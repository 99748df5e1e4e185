/** What a caller may know of itself and of the API: the account, and the revisions. */
import { expect, test } from "vitest";
import { Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import { newestRevision, revisions } from "#shared/values/revisions.ts";
import { installApp } from "../support/apps.ts";
import { describeEverywhere, testCall } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";

describeEverywhere("the account", (daybook) => {
  test("is the property and the key of the request, without its secret", async () => {
    const api = await daybook().newProperty({
      mode: Mode.LIVE,
      scopes: ["accounts:read", "events:write"],
      rateLimits: { ordinary: 500 },
    });
    const { status, body, text } = await api.get("/v1/account");
    expect(status).toBe(200);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(body.data).toEqual({
      object: "account",
      property: {
        id: api.propertyId,
        object: "property",
        name: "Test",
        mode: "live",
        livemode: true,
        default_currency: "USD",
        timezone: "UTC",
        created_at: time,
      },
      key: {
        id: api.keyId,
        object: "key",
        name: "test",
        display_prefix: api.secret.slice(0, 12),
        scopes: ["accounts:read", "events:write"],
        revision: newestRevision,
        created_at: time,
        expires_at: null,
        // Of this request it may be told already.
        last_used_at: expect.toSatisfy((at) => at === null || typeof at === "string"),
        rate_limits: { ordinary: 500, backfill: expect.any(Number) },
      },
    });
    expect(body.meta.livemode).toBe(true);
    expect(text).not.toContain(api.secret.slice(12));
  });

  test("has the installation in the place of the key for an access token, with the token's own scopes", async () => {
    const { propertyId, ...key } = await daybook().newProperty({ mode: Mode.LIVE });
    const scopes = ["accounts:read", "events:read", "events:write"];
    const { installationId, appId, ...installation } = await installApp(daybook(), propertyId, { scopes });
    const { token, get } = await installation.newToken({ scopes: scopes.slice(0, 2) });
    const { status, body, text } = await get("/v1/account");
    expect(status).toBe(200);
    const ofKey = (await key.get("/v1/account")).body.data;
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(body.data).toEqual({
      object: "account",
      property: ofKey.property,
      installation: {
        id: installationId,
        object: "installation",
        app_id: appId,
        property_id: propertyId,
        livemode: true,
        scopes: scopes.slice(0, 2),
        status: "active",
        revoked_reason: null,
        installed_by: expect.stringMatching(/^mem_/),
        revision: newestRevision,
        created_at: time,
        updated_at: time,
        revoked_at: null,
        last_used_at: expect.toSatisfy((at) => at === null || typeof at === "string"),
        // The defaults, as of a key without limits of its own.
        rate_limits: ofKey.key.rate_limits,
      },
    });
    expect(Object.keys(ofKey)).toEqual(["object", "property", "key"]);
    expect([body.meta.livemode, body.meta.revision]).toEqual([true, newestRevision]);
    expect(text).not.toContain(token.slice(0, 12));
  });

  test("tells when the key was last used, and not when another was", async () => {
    const api = await daybook().newProperty();
    const unused = await daybook().newProperty();
    const before = Date.now();
    const used = await eventually(async () => (await api.get("/v1/account")).body.data.key.last_used_at ?? undefined);
    expect(Date.parse(used)).toBeGreaterThanOrEqual(before - 1);
    expect(Date.parse(used)).toBeLessThanOrEqual(Date.now());
    const { propertyId, keyId } = unused;
    const { key } = await daybook().clients.identity.getKey({ propertyId, keyId }, testCall);
    expect([key?.id, key?.lastUsedAt]).toEqual([keyId, undefined]);
  });

  test("needs the scope accounts:read", async () => {
    const api = await daybook().newProperty({ scopes: ["events:read"] });
    const { status, body } = await api.get("/v1/account");
    expect([status, body.error.code]).toEqual([403, "missing_scope"]);
    expect(body.error.message).toContain("accounts:read");
  });

  test("takes no parameters", async () => {
    const { status, body } = await (await daybook().newProperty()).get("/v1/account?expand=key");
    expect([status, body.error.code, body.error.param]).toEqual([400, "unsupported_expand", "expand"]);
  });
});

describeEverywhere("revisions", (daybook) => {
  test("are listed newest first with what changed, to any key, and to nobody without one", async () => {
    const api = await daybook().newProperty({ scopes: ["catalogs:read"] });
    const { status, body } = await api.get("/v1/revisions");
    expect(status).toBe(200);
    expect(body.data.map(({ revision }: { revision: string }) => revision)).toEqual(revisions.toReversed());
    for (const { object, changes } of body.data) {
      expect(object).toBe("revision");
      expect(changes.length).toBeGreaterThan(0);
      expect(changes.every((change: unknown) => typeof change === "string" && change !== "")).toBe(true);
    }
    expect(body.meta.page).toEqual({ limit: 50, has_more: false, next_cursor: null });
    const stranger = await api.get("/v1/revisions", { headers: { authorization: "Bearer sk_test_guess" } });
    expect([stranger.status, stranger.body.error.code]).toEqual([401, "invalid_api_key"]);
  });

  test("come in pages as every list does", async () => {
    const api = await daybook().newProperty();
    const seen: string[] = [];
    let after = "";
    do {
      const { body } = await api.get(`/v1/revisions?page[limit]=1${after}`);
      expect(body.data.length).toBe(1);
      seen.push(body.data[0].revision);
      after = body.meta.page.has_more ? `&page[after]=${body.meta.page.next_cursor}` : "";
    } while (after !== "");
    expect(seen).toEqual(revisions.toReversed());
    const refused = await api.get("/v1/revisions?sort=revision");
    expect([refused.status, refused.body.error.code]).toEqual([400, "unsupported_sort"]);
  });

  test("name each revision that the API answers in", async () => {
    const api = await daybook().newProperty();
    const { body } = await api.get("/v1/revisions");
    for (const { revision } of body.data) {
      const answer = await api.get("/v1/account", { headers: { "service-version": revision } });
      expect([answer.headers.get("service-version"), answer.body.meta.revision]).toEqual([revision, revision]);
    }
  });
});
