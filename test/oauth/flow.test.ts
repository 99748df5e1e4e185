/** The way of an app: found, installed, used, refreshed, given back. Driven by libraries that apps are written with. */
import * as oauth4 from "oauth4webapi";
import * as oidc from "openid-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AppType, InstallationStatus, RevokedReason } from "#proto/daybook/identity/v1/apps_pb.ts";
import { Role } from "#proto/daybook/identity/v1/members_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createApi } from "../support/api.ts";
import { execute } from "../support/database.ts";
import { testCall, type SingleProcess, type TestProperty } from "../support/daybook.ts";
import {
  allow,
  configure,
  decide,
  install,
  newApp,
  newConsenter,
  newOAuthBrowser,
  newRequest,
  openConsent,
  startWithOAuth,
} from "../support/oauth.ts";
import { eventually } from "../support/processes.ts";

const owner = new Owner();
let daybook: SingleProcess;
let property: TestProperty;

beforeAll(async () => {
  daybook = await startWithOAuth(owner);
  property = await daybook.newProperty();
}, 120_000);

afterAll(() => owner.close());

const event = {
  type: "order.completed",
  identifier: { type: "email", value: "ada@example.com" },
  properties: { order_id: "1001" },
};

describe("an app", () => {
  test.each([
    ["public", AppType.PUBLIC],
    ["confidential", AppType.CONFIDENTIAL],
  ])("that is %s installs itself, calls, refreshes, and gives its access back", async (_name, type) => {
    const testApp = await newApp(daybook, { type });
    const { config, tokens, accessToken, refreshToken } = await install(daybook, testApp, property.propertyId);
    expect(tokens).toMatchObject({
      token_type: "bearer",
      expires_in: 3600,
      scope: "events:read events:write",
      property_id: property.propertyId,
      installation_id: expect.stringMatching(/^inst_/),
      livemode: false,
    });
    for (const token of [accessToken, refreshToken]) expect(token).toMatch(/^[\w-]{43}$/);
    const api = createApi(daybook.baseUrl, accessToken);
    expect((await api.post("/v1/events", event)).status).toBe(201);
    expect((await api.get("/v1/profiles")).status).toBe(403);

    const refreshed = await oidc.refreshTokenGrant(config, refreshToken);
    expect(refreshed).toMatchObject({ installation_id: tokens.installation_id, property_id: property.propertyId });
    expect(refreshed.refresh_token).not.toBe(refreshToken);
    const again = createApi(daybook.baseUrl, refreshed.access_token);
    expect((await again.get("/v1/events")).status).toBe(200);

    await oidc.tokenRevocation(config, refreshed.refresh_token ?? "");
    await eventually(async () => ((await again.get("/v1/events")).status === 401 ? true : undefined));
    const installationId = tokens.installation_id as string;
    const ended = await daybook.clients.apps.getInstallation(
      { propertyId: property.propertyId, installationId },
      testCall,
    );
    expect(ended.installation).toMatchObject({
      status: InstallationStatus.REVOKED,
      revokedReason: RevokedReason.APP,
    });
  });

  test("finds all that it needs in the metadata", async () => {
    const issuer = new URL(daybook.baseUrl);
    const options = { algorithm: "oauth2", [oauth4.allowInsecureRequests]: true } as const;
    const response = await oauth4.discoveryRequest(issuer, options);
    const server = await oauth4.processDiscoveryResponse(issuer, response);
    expect(server).toEqual({
      issuer: daybook.baseUrl,
      authorization_endpoint: `${daybook.baseUrl}/oauth/authorize`,
      token_endpoint: `${daybook.baseUrl}/oauth/token`,
      revocation_endpoint: `${daybook.baseUrl}/oauth/revoke`,
      pushed_authorization_request_endpoint: `${daybook.baseUrl}/oauth/par`,
      jwks_uri: `${daybook.baseUrl}/oauth/jwks`,
      service_documentation: `${daybook.baseUrl}/docs`,
      authorization_response_iss_parameter_supported: true,
      code_challenge_methods_supported: ["S256"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      request_uri_parameter_supported: false,
      response_modes_supported: ["query"],
      response_types_supported: ["code"],
      scopes_supported: expect.arrayContaining(["events:write"]),
      token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "none"],
    });
    const head = await fetch(`${daybook.baseUrl}/.well-known/oauth-authorization-server`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const jwks = (await (await fetch(`${daybook.baseUrl}/oauth/jwks`)).json()) as { keys: object[] };
    expect(jwks.keys).toEqual([expect.objectContaining({ kty: "EC", crv: "P-256", alg: "ES256" })]);
    expect(Object.keys(jwks.keys[0] ?? {})).not.toContain("d");
  });

  test("pushes its request, with oauth4webapi and a secret in the body", async () => {
    const testApp = await newApp(daybook, { type: AppType.CONFIDENTIAL });
    const issuer = new URL(daybook.baseUrl);
    const insecure = { [oauth4.allowInsecureRequests]: true } as const;
    const server = await oauth4.processDiscoveryResponse(
      issuer,
      await oauth4.discoveryRequest(issuer, { algorithm: "oauth2", ...insecure }),
    );
    const client = { client_id: testApp.app.id };
    const auth = oauth4.ClientSecretPost(testApp.secret ?? "");
    const verifier = oauth4.generateRandomCodeVerifier();
    const codeChallenge = await oauth4.calculatePKCECodeChallenge(verifier);
    const push = (scope: string) => {
      const parameters = new URLSearchParams({
        redirect_uri: testApp.redirectUri,
        response_type: "code",
        scope,
        state: "a state",
        code_challenge: codeChallenge,
        code_challenge_method: "S256",
      });
      return oauth4.pushedAuthorizationRequest(server, client, auth, parameters, insecure);
    };
    for (const scope of ["events:read everything", "events:read profiles:read", ""]) {
      const refused = await push(scope);
      expect([refused.status, await refused.json()]).toMatchObject([400, { error: "invalid_scope" }]);
    }
    const pushed = await push("events:read");
    const { request_uri: requestUri } = await oauth4.processPushedAuthorizationResponse(server, client, pushed);
    const url = new URL(server.authorization_endpoint ?? "");
    url.search = new URLSearchParams({ client_id: testApp.app.id, request_uri: requestUri }).toString();
    const browser = await newConsenter(daybook);
    const back = await allow(daybook, browser, url, property.propertyId);
    const parameters = oauth4.validateAuthResponse(server, client, back, "a state");
    const answer = await oauth4.authorizationCodeGrantRequest(
      server,
      client,
      auth,
      parameters,
      testApp.redirectUri,
      verifier,
      insecure,
    );
    const tokens = await oauth4.processAuthorizationCodeResponse(server, client, answer);
    expect(tokens).toMatchObject({ scope: "events:read", property_id: property.propertyId });
    // A pushed request is good once.
    const second = await openConsent(daybook, browser, url);
    expect([second.status, second.token]).toEqual([400, ""]);
  });

  test("is told when the member denies, and gets nothing", async () => {
    const testApp = await newApp(daybook);
    const config = await configure(daybook, testApp);
    const { url, state } = await newRequest(config, testApp);
    const browser = await newConsenter(daybook);
    const back = await decide(daybook, browser, await openConsent(daybook, browser, url), { decision: "deny" });
    expect(Object.fromEntries(back.searchParams)).toEqual({
      error: "access_denied",
      error_description: expect.any(String),
      iss: daybook.baseUrl,
      state,
    });
    const { installations } = await daybook.clients.apps.listInstallations(
      { appId: testApp.app.id, limit: 1 },
      testCall,
    );
    expect(installations).toEqual([]);
  });

  test("keeps its installation over a second consent, which replaces scopes and tokens", async () => {
    const scopes = ["events:read", "events:write"];
    const testApp = await newApp(daybook, { scopes });
    const first = await install(daybook, testApp, property.propertyId);
    const config = await configure(daybook, testApp);
    const request = await newRequest(config, testApp, { scope: "events:read" });
    const browser = await newConsenter(daybook);
    const page = await openConsent(daybook, browser, request.url);
    expect(page.text).toContain("connected: replaces that access");
    const back = await decide(daybook, browser, page, { decision: "allow", property_id: property.propertyId });
    const second = await oidc.authorizationCodeGrant(config, back, {
      pkceCodeVerifier: request.verifier,
      expectedState: request.state,
    });
    expect(second).toMatchObject({ installation_id: first.tokens.installation_id, scope: "events:read" });
    const old = createApi(daybook.baseUrl, first.accessToken);
    await eventually(async () => ((await old.get("/v1/events")).status === 401 ? true : undefined));
    await expect(oidc.refreshTokenGrant(config, first.refreshToken)).rejects.toMatchObject({ error: "invalid_grant" });
    expect((await createApi(daybook.baseUrl, second.access_token).get("/v1/events")).status).toBe(200);
  });

  test("narrows a token, which stays within what the app asked for", async () => {
    const testApp = await newApp(daybook);
    const { config, refreshToken } = await install(daybook, testApp, property.propertyId);
    const narrow = await oidc.refreshTokenGrant(config, refreshToken, { scope: "events:read" });
    const api = createApi(daybook.baseUrl, narrow.access_token);
    expect((await api.get("/v1/events")).status).toBe(200);
    expect(await api.post("/v1/events", event)).toMatchObject({
      status: 403,
      body: { error: { code: "missing_scope" } },
    });
    await expect(
      oidc.refreshTokenGrant(config, narrow.refresh_token ?? "", { scope: "events:read profiles:read" }),
    ).rejects.toMatchObject({ error: "invalid_scope" });
  });

  test("that gives an access token back keeps the others", async () => {
    const testApp = await newApp(daybook);
    const { config, accessToken, refreshToken } = await install(daybook, testApp, property.propertyId);
    const api = createApi(daybook.baseUrl, accessToken);
    expect((await api.get("/v1/events")).status).toBe(200);
    await oidc.tokenRevocation(config, accessToken);
    await eventually(async () => ((await api.get("/v1/events")).status === 401 ? true : undefined));
    const next = await oidc.refreshTokenGrant(config, refreshToken);
    expect((await createApi(daybook.baseUrl, next.access_token).get("/v1/events")).status).toBe(200);
  });
});

describe("the page of a consent", () => {
  test("asks who is signed in, and sends others to sign in and back", async () => {
    const testApp = await newApp(daybook, { description: "Prints labels.", homepageUrl: "https://app.example.com/" });
    const config = await configure(daybook, testApp);
    const { url } = await newRequest(config, testApp);
    const browser = await newConsenter(daybook);
    const page = await openConsent(daybook, browser, url);
    expect(page.text).toContain("Prints labels.");
    expect(page.text).toContain("Record events");
    expect(page.headers.get("content-security-policy")).toMatch(/; form-action 'self' http:\/\/127\.0\.0\.1$/);
    const anonymous = await newOAuthBrowser().get(page.url, {
      cookie: [...browser.cookies]
        .filter(([name]) => name.startsWith("daybook-oauth"))
        .map((pair) => pair.join("="))
        .join("; "),
    });
    const path = new URL(page.url).pathname;
    expect([anonymous.status, anonymous.headers.get("location")]).toEqual([
      303,
      `/dashboard/sign-in?${new URLSearchParams({ next: path, fresh: "true" }).toString()}`,
    ]);
  });

  test("sends somebody whose sign-in is old to sign in again", async () => {
    const testApp = await newApp(daybook);
    const { url } = await newRequest(await configure(daybook, testApp), testApp);
    const browser = await newConsenter(daybook);
    await execute(
      daybook.databaseUrl,
      `UPDATE identity.member_sessions SET fresh_until = now() - interval '1 second'
       WHERE id = (SELECT id FROM identity.member_sessions ORDER BY id DESC LIMIT 1)`,
    );
    const page = await openConsent(daybook, browser, url);
    expect([page.status, page.headers.get("location")]).toEqual([303, expect.stringContaining("fresh=true")]);
    // She is signed in, and yet is asked.
    const signIn = await browser.get(daybook.baseUrl + (page.headers.get("location") ?? ""));
    expect([signIn.status, signIn.text]).toEqual([200, expect.stringContaining("Sign in")]);
  });

  test("offers the properties where the member may give what the app asks for", async () => {
    const mine = await daybook.newProperty();
    const other = await daybook.newProperty();
    const developer = await newConsenter(daybook, [
      { propertyId: mine.propertyId, role: Role.DEVELOPER },
      { propertyId: other.propertyId, role: Role.SUPPORT },
    ]);
    const plain = await newApp(daybook);
    const page = await openConsent(daybook, developer, (await newRequest(await configure(daybook, plain), plain)).url);
    expect(page.text).toContain(mine.propertyId);
    expect(page.text).not.toContain(other.propertyId);
    const guarded = await newApp(daybook, { scopes: ["identifiers:read_value"] });
    const second = await openConsent(
      daybook,
      developer,
      (await newRequest(await configure(daybook, guarded), guarded)).url,
    );
    expect(second.text).toContain("no property that you may connect");
    const forced = await developer.send(second.url, {
      token: second.token,
      decision: "allow",
      property_id: mine.propertyId,
    });
    expect(forced.status).toBe(422);
  });
});
