/** Requests of an app that must not reach a member, or not get what they ask for. */
import { randomBytes } from "node:crypto";
import * as oidc from "openid-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AppStatus, AppType } from "#proto/daybook/identity/v1/apps_pb.ts";
import { Role } from "#proto/daybook/identity/v1/members_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { edgeDefaults } from "../../gateway/config.ts";
import { testCall, type SingleProcess, type TestProperty } from "../support/daybook.ts";
import { newMember } from "../support/members.ts";
import {
  allow,
  configure,
  install,
  locationOf,
  newApp,
  newConsenter,
  newOAuthBrowser,
  newRequest,
  openConsent,
  startWithOAuth,
  type OAuthBrowser,
  type TestApp,
} from "../support/oauth.ts";

const owner = new Owner();
let daybook: SingleProcess;
let property: TestProperty;
let ada: OAuthBrowser;
let app: TestApp;
let config: oidc.Configuration;

beforeAll(async () => {
  daybook = await startWithOAuth(owner, { oauth: { failuresPerMinute: 10_000, authorizationsPerMinute: 10_000 } });
  property = await daybook.newProperty();
  ada = await newConsenter(daybook);
  app = await newApp(daybook, { redirectUris: ["http://127.0.0.1/callback", "https://app.example.com/a/callback"] });
  config = await configure(daybook, app);
}, 120_000);

afterAll(() => owner.close());

/** What an authorization request is answered, with some of its parameters replaced, or left out where undefined. */
async function authorize(fields: Record<string, string | undefined>, testApp = app) {
  const { url } = await newRequest(config, testApp);
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return ada.get(url.href);
}

/** The error that a browser takes back to the app. */
function errorAt(answer: Awaited<ReturnType<typeof authorize>>) {
  const { origin, pathname, search, hash } = new URL(locationOf(answer, daybook.baseUrl));
  // Where the app asked for it there, the error stands behind the #.
  const { error, iss, state } = Object.fromEntries(new URLSearchParams(hash === "" ? search : hash.slice(1)));
  return { status: answer.status, at: origin + pathname, error, iss, hasState: state !== undefined };
}

describe("an authorization request", () => {
  const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

  test.each<[string, Record<string, string | undefined>, string]>([
    ["without PKCE", { code_challenge: undefined, code_challenge_method: undefined }, "invalid_request"],
    ["with plain PKCE", { code_challenge: challenge, code_challenge_method: "plain" }, "invalid_request"],
    ["with PKCE that is plain by default", { code_challenge_method: undefined }, "invalid_request"],
    ["with a challenge that is too short", { code_challenge: "short" }, "invalid_request"],
    // Both of these would come in the fragment of the address, which is refused first.
    ["for a token", { response_type: "token" }, "invalid_request"],
    ["for an id token", { response_type: "code id_token" }, "invalid_request"],
    ["for nothing", { response_type: "none" }, "unsupported_response_type"],
    ["for a scope beyond the app's", { scope: "events:read profiles:read" }, "invalid_scope"],
    ["for a scope that there is not", { scope: "events:read everything" }, "invalid_scope"],
    ["for OpenID Connect", { scope: "openid events:read" }, "invalid_scope"],
    ["without a scope", { scope: undefined }, "invalid_scope"],
    ["with an empty scope", { scope: "" }, "invalid_scope"],
    ["without a question", { prompt: "none" }, "consent_required"],
    ["with another prompt", { prompt: "login" }, "invalid_request"],
    ["in another response mode", { response_mode: "fragment" }, "invalid_request"],
    ["with a request object", { request: "e30.e30." }, "request_not_supported"],
  ])("%s is refused where the app sees it", async (_name, fields, error) => {
    expect(errorAt(await authorize(fields))).toEqual({
      status: 303,
      at: app.redirectUri,
      error,
      iss: daybook.baseUrl,
      hasState: true,
    });
  });

  test.each([
    ["one character more", "http://127.0.0.1/callback/"],
    ["one character less", "http://127.0.0.1/callbac"],
    ["another case", "http://127.0.0.1/Callback"],
    ["another host", "http://127.0.0.2/callback"],
    ["another scheme", "https://127.0.0.1/callback"],
    ["a query", "http://127.0.0.1/callback?next=1"],
    ["a fragment", "http://127.0.0.1/callback#there"],
    ["user information", "http://ada@127.0.0.1/callback"],
    ["a host as user information", "http://127.0.0.1:80@evil.example/callback"],
    ["an encoded dot", "https://app.example.com/a/%2e%2e/callback"],
    ["a dot segment", "https://app.example.com/a/../a/callback"],
    ["another port of https", "https://app.example.com:8443/a/callback"],
    ["a host that ends the same", "https://evil-app.example.com/a/callback"],
    ["a backslash", "https://app.example.com\\@evil.example/a/callback"],
    ["a script", "javascript:alert(1)"],
  ])("to a redirect address with %s is refused on a page", async (_name, redirectUri) => {
    const answer = await authorize({ redirect_uri: redirectUri });
    expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
    expect(answer.text).toContain("invalid_redirect_uri");
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
  });

  test("without a redirect address is refused, also of an app with one", async () => {
    const single = await newApp(daybook);
    for (const testApp of [app, single]) {
      const answer = await authorize({ redirect_uri: undefined }, testApp);
      expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
    }
  });

  test("goes back to any port of the loopback address of a public app", async () => {
    const answer = await authorize({ redirect_uri: "http://127.0.0.1:51004/callback", prompt: "none" });
    expect(errorAt(answer)).toMatchObject({ at: "http://127.0.0.1:51004/callback", error: "consent_required" });
  });

  test("of nobody, and of a suspended app, is refused on a page", async () => {
    const suspended = await newApp(daybook);
    await daybook.clients.apps.updateApp({ appId: suspended.app.id, status: AppStatus.SUSPENDED }, testCall);
    for (const clientId of ["app_00000000000000000000000000", "nobody", "", "x".repeat(5_000), suspended.app.id]) {
      const answer = await authorize({ client_id: clientId });
      expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
      expect(answer.text).toMatch(/invalid_client|invalid_request/);
    }
  });

  test("with a parameter twice is refused", async () => {
    const { url } = await newRequest(config, app);
    url.searchParams.append("scope", "events:read");
    const answer = await ada.get(url.href);
    expect(errorAt(answer)).toMatchObject({ error: "invalid_request" });
  });

  test("shows markup of the app and of the request as text", async () => {
    const evil = await newApp(daybook, {
      name: "<script>alert(1)</script>",
      description: `"><img src=x onerror=alert(1)>`,
    });
    const page = await openConsent(daybook, ada, (await newRequest(config, evil)).url);
    expect(page.text).not.toMatch(/<script>alert|<img/);
    const refused = await authorize({ client_id: "<script>alert(1)</script>" });
    expect(refused.text).not.toContain("<script>alert");
  });
});

describe("addresses in answers", () => {
  const spoofed = { host: "evil.example", "x-forwarded-host": "evil.example", "x-forwarded-proto": "https" };

  test("are those of PUBLIC_URL, whatever the request says", async () => {
    // Fetch does not send another Host.
    const { request } = await import("node:http");
    const ask = (path: string, headers: Record<string, string>) =>
      new Promise<{ location: string | undefined; text: string }>((resolve, reject) => {
        const asking = request(daybook.baseUrl + path, { headers }, (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (part: string) => (text += part));
          response.once("end", () => resolve({ location: response.headers.location, text }));
        });
        asking.once("error", reject).end();
      });
    const metadata = await ask("/.well-known/oauth-authorization-server", spoofed);
    expect(JSON.parse(metadata.text)).toMatchObject({
      issuer: daybook.baseUrl,
      token_endpoint: `${daybook.baseUrl}/oauth/token`,
    });
    expect(metadata.text).not.toContain("evil");
    const { url } = await newRequest(config, app);
    const sent = await ask(url.pathname + url.search, spoofed);
    expect(sent.location).toMatch(/^\/oauth\/interactions\/[\w-]+$/);
  });
});

test("behind a proxy that ends TLS, cookies are for https only, and the whole way is at the public address", async () => {
  const publicUrl = "https://daybook.example.com";
  const behind = await startWithOAuth(owner, { edge: { ...edgeDefaults, publicUrl } });
  const { propertyId } = await behind.newProperty();
  const testApp = await newApp(behind);
  const { token } = await newMember(behind);
  const browser = newOAuthBrowser({ name: "__Host-daybook", value: token });
  const verifier = oidc.randomPKCECodeVerifier();
  const query = new URLSearchParams({
    response_type: "code",
    client_id: testApp.app.id,
    redirect_uri: testApp.redirectUri,
    scope: "events:read",
    state: "a state",
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  const sent = await browser.get(`${behind.baseUrl}/oauth/authorize?${query.toString()}`);
  const cookies = sent.headers.getSetCookie();
  expect([sent.status, cookies.length > 0]).toEqual([303, true]);
  for (const cookie of cookies) expect(cookie).toMatch(/; samesite=lax; secure; httponly/i);
  const url = behind.baseUrl + (sent.headers.get("location") ?? "");
  const page = await browser.get(url);
  const formToken = /name="token" value="([^"]*)"/.exec(page.text)?.[1] ?? "";
  const decided = await browser.send(url, { token: formToken, decision: "allow", property_id: propertyId });
  const resume = decided.headers.get("location") ?? "";
  expect(resume).toMatch(/^https:\/\/daybook\.example\.com\/oauth\/authorize\/[\w-]+$/);
  const back = await browser.get(resume.replace(publicUrl, behind.baseUrl));
  const { searchParams } = new URL(back.headers.get("location") ?? "");
  expect(Object.fromEntries(searchParams)).toEqual({ code: expect.any(String), state: "a state", iss: publicUrl });
});

describe("a decision", () => {
  async function ready() {
    const browser = newOAuthBrowser();
    for (const [name, value] of ada.cookies) if (!name.startsWith("daybook-oauth")) browser.cookies.set(name, value);
    const page = await openConsent(daybook, browser, (await newRequest(config, app)).url);
    return { browser, page, good: { token: page.token, decision: "allow", property_id: property.propertyId } };
  }

  test("without the token of its page, or with another's, changes nothing", async () => {
    const { browser, page, good } = await ready();
    const other = await ready();
    const eve = await newConsenter(daybook);
    const hers = await openConsent(daybook, eve, (await newRequest(config, app)).url);
    for (const token of ["", "cur_", "x".repeat(2_000), other.page.token, hers.token]) {
      const answer = await browser.send(page.url, { ...good, token });
      expect([answer.status, answer.headers.get("location")]).toEqual([403, null]);
    }
    expect((await browser.send(page.url, good)).status).toBe(303);
  });

  test.each<[string, Record<string, string>]>([
    ["another site", { "sec-fetch-site": "cross-site" }],
    ["another port of the host", { "sec-fetch-site": "same-site" }],
    ["another origin", { origin: "https://evil.example" }],
    ["nowhere", { origin: "null" }],
    ["no origin", {}],
  ])("from %s is refused", async (_name, headers) => {
    const { browser, page, good } = await ready();
    expect((await browser.send(page.url, good, headers)).status).toBe(403);
  });

  test("for a property that the member may not connect is refused", async () => {
    const elsewhere = await daybook.newProperty();
    const developer = await newConsenter(daybook, [{ propertyId: property.propertyId, role: Role.DEVELOPER }]);
    const page = await openConsent(daybook, developer, (await newRequest(config, app)).url);
    for (const propertyId of [elsewhere.propertyId, "", "prop_00000000000000000000000000", "x"]) {
      const fields = { token: page.token, decision: "allow", property_id: propertyId };
      expect((await developer.send(page.url, fields)).status).toBe(422);
    }
  });

  test("of a support or a viewer is refused", async () => {
    for (const role of [Role.SUPPORT, Role.VIEWER]) {
      const member = await newConsenter(daybook, [{ propertyId: property.propertyId, role }]);
      const page = await openConsent(daybook, member, (await newRequest(config, app)).url);
      const fields = { token: page.token, decision: "allow", property_id: property.propertyId };
      expect((await member.send(page.url, fields)).status).toBe(422);
    }
  });

  test("in a browser that did not begin the request is refused", async () => {
    const { page, good } = await ready();
    const eve = await newConsenter(daybook);
    expect((await eve.send(page.url, good)).status).toBe(400);
    expect((await eve.get(page.url)).status).toBe(400);
  });

  test("is good once", async () => {
    const { browser, page, good } = await ready();
    const decided = await browser.send(page.url, good);
    const back = await browser.get(locationOf(decided, daybook.baseUrl));
    expect(back.headers.get("location")).toContain("code=");
    const again = await browser.get(locationOf(decided, daybook.baseUrl));
    expect([again.status, again.headers.get("location")]).toEqual([400, null]);
    expect((await browser.send(page.url, good)).status).toBe(400);
  });

  test("cannot be made on a page that another site frames, and tells nobody its address", async () => {
    const { page } = await ready();
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(page.headers.get("referrer-policy")).toBe("same-origin");
    expect(page.headers.get("cache-control")).toBe("no-store");
  });
});

describe("a token request", () => {
  const token = async (fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const response = await fetch(`${daybook.baseUrl}/oauth/token`, {
      method: "POST",
      headers: { ...headers },
      body: new URLSearchParams(fields),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as { error?: string } };
  };

  async function newCode(testApp = app) {
    const request = await newRequest(config, testApp);
    if (testApp !== app) request.url.searchParams.set("client_id", testApp.app.id);
    const back = await allow(daybook, ada, request.url, property.propertyId);
    return {
      grant_type: "authorization_code",
      client_id: testApp.app.id,
      code: back.searchParams.get("code") ?? "",
      redirect_uri: testApp.redirectUri,
      code_verifier: request.verifier,
    };
  }

  test("with anything off gets nothing, and the code stays good", async () => {
    const good = await newCode();
    const other = await newApp(daybook);
    const { code_verifier: verifier, redirect_uri: _redirect, ...rest } = good;
    const wrong: [Record<string, string>, string][] = [
      [{ ...good, code_verifier: oidc.randomPKCECodeVerifier() }, "invalid_grant"],
      [{ ...good, code_verifier: verifier.slice(0, -1) }, "invalid_request"],
      [{ ...rest, redirect_uri: good.redirect_uri }, "invalid_grant"],
      [{ ...rest, code_verifier: verifier }, "invalid_request"],
      [{ ...good, redirect_uri: "https://app.example.com/a/callback" }, "invalid_grant"],
      [{ ...good, redirect_uri: "http://127.0.0.1:9/callback" }, "invalid_grant"],
      [{ ...good, client_id: other.app.id }, "invalid_grant"],
      [{ ...good, code: good.code.toLowerCase() }, "invalid_grant"],
      [{ ...good, code: "x".repeat(5_000) }, "invalid_grant"],
      [{ ...good, grant_type: "password" }, "unsupported_grant_type"],
      [{ ...good, grant_type: "client_credentials" }, "unsupported_grant_type"],
    ];
    for (const [fields, error] of wrong) {
      expect([fields, await token(fields)]).toMatchObject([fields, { status: 400, body: { error } }]);
    }
    const { status, headers } = await token(good);
    expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
  });

  test("of a confidential app needs its secret, of which two are good at a time", async () => {
    const secretive = await newApp(daybook, { type: AppType.CONFIDENTIAL });
    const installed = await install(daybook, secretive, property.propertyId);
    const { secret: second } = await daybook.clients.apps.addAppSecret({ appId: secretive.app.id }, testCall);
    const refresh = (secret: string | undefined, refreshToken: string) =>
      token({
        grant_type: "refresh_token",
        client_id: secretive.app.id,
        refresh_token: refreshToken,
        ...(secret === undefined ? {} : { client_secret: secret }),
      });
    const stranger = randomBytes(32).toString("base64url");
    for (const wrong of [undefined, "", stranger, `${second}x`, "x".repeat(5_000)]) {
      expect((await refresh(wrong, installed.refreshToken)).status).toBeGreaterThanOrEqual(400);
    }
    const first = await refresh(secretive.secret, installed.refreshToken);
    expect(first.status).toBe(200);
    const next = first.body as { refresh_token?: string };
    expect((await refresh(second, next.refresh_token ?? "")).status).toBe(200);
  });

  test("of the wrong kind is refused in the form of OAuth", async () => {
    const send = (init: RequestInit) => fetch(`${daybook.baseUrl}/oauth/token`, { method: "POST", ...init });
    const json = await send({ body: "{}", headers: { "content-type": "application/json" } });
    expect([json.status, await json.json()]).toMatchObject([400, { error: "invalid_request" }]);
    const large = await send({ body: new URLSearchParams({ code: "x".repeat(200_000) }) });
    expect(large.status).toBeGreaterThanOrEqual(400);
    expect(large.status).toBeLessThan(500);
    const get = await fetch(`${daybook.baseUrl}/oauth/token`);
    expect([get.status, get.headers.get("allow")]).toEqual([405, "POST"]);
    expect((await fetch(`${daybook.baseUrl}/oauth/register`, { method: "POST" })).status).toBe(404);
  });
});

test("there is no OAuth without PUBLIC_URL, or over plain HTTP of another computer", async () => {
  const { startSingleProcess } = await import("../support/daybook.ts");
  const plain = await startSingleProcess(owner);
  for (const path of ["/.well-known/oauth-authorization-server", "/oauth/authorize"]) {
    const response = await fetch(plain.baseUrl + path);
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { error: { code: "resource_not_found", message: expect.stringContaining("PUBLIC_URL") } },
    ]);
  }
});

describe("limits", () => {
  test("hold for refused requests of an address, and for good ones of an app", async () => {
    const limited = await startWithOAuth(owner, { oauth: { failuresPerMinute: 5, requestsPerMinute: 3 } });
    const { propertyId } = await limited.newProperty();
    const testApp = await newApp(limited);
    const installed = await install(limited, testApp, propertyId);
    const statuses: number[] = [];
    let next = installed.refreshToken;
    const waits: boolean[] = [];
    for (let count = 0; count < 4; count++) {
      const response = await fetch(`${limited.baseUrl}/oauth/token`, {
        method: "POST",
        body: new URLSearchParams({ grant_type: "refresh_token", client_id: testApp.app.id, refresh_token: next }),
      });
      const body = (await response.json()) as { refresh_token?: string };
      next = body.refresh_token ?? next;
      statuses.push(response.status);
      waits.push(response.headers.has("retry-after"));
    }
    // The code was the first.
    expect(statuses).toEqual([200, 200, 429, 429]);
    expect(waits).toEqual([false, false, true, true]);
    const bad = async () => {
      const body = new URLSearchParams({ grant_type: "refresh_token", client_id: testApp.app.id, refresh_token: "no" });
      const response = await fetch(`${limited.baseUrl}/oauth/token`, { method: "POST", body });
      return [response.status, response.headers.has("retry-after")];
    };
    // Those above the app's limit were refused too.
    for (let count = 0; count < 3; count++) expect(await bad()).toEqual([400, false]);
    expect(await bad()).toEqual([429, true]);
  });

  test("hold for authorization requests of an address, because each is kept", async () => {
    const limited = await startWithOAuth(owner, { oauth: { authorizationsPerMinute: 2 } });
    const testApp = await newApp(limited);
    const limitedConfig = await configure(limited, testApp);
    const ask = async () => (await ada.get((await newRequest(limitedConfig, testApp)).url.href)).status;
    expect([await ask(), await ask(), await ask()]).toEqual([303, 303, 429]);
  });
});
