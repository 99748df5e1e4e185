/** A Daybook with OAuth, an app as its makers write it, and the browser of a member who consents. */
import * as oidc from "openid-client";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { AppType, type App, type CreateAppRequestSchema } from "#proto/daybook/identity/v1/apps_pb.ts";
import type { RoleGrantSchema } from "#proto/daybook/identity/v1/members_pb.ts";
import type { Owner } from "#shared/process/lifecycle.ts";
import type { DaybookOptions } from "../../deploy/local/daybook.ts";
import { edgeDefaults } from "../../gateway/config.ts";
import { makeApp } from "./apps.ts";
import { cookiesOf, sameOrigin, sendForm, type Answer } from "./dashboard-http.ts";
import { startSingleProcess, type SingleProcess, type TestDaybook } from "./daybook.ts";
import { newMember } from "./members.ts";
import { freePort } from "./processes.ts";

/** Starts a Daybook that knows its own address, without which there is no OAuth. */
export async function startWithOAuth(owner: Owner, options: Partial<DaybookOptions> = {}): Promise<SingleProcess> {
  const port = await freePort();
  const edge = { ...edgeDefaults, publicUrl: `http://127.0.0.1:${port}` };
  return startSingleProcess(owner, { port, edge, ...options });
}

export interface TestApp {
  app: App;
  secret: string | undefined;
  redirectUri: string;
}

/** Nobody answers there: the tests read where the browser is sent. */
const callback = "https://app.example.com/callback";
const loopbackCallback = "http://127.0.0.1/callback";

/** Makes an app. By default it is public. */
export async function newApp(
  daybook: TestDaybook,
  fields: MessageInitShape<typeof CreateAppRequestSchema> = {},
): Promise<TestApp> {
  const type = fields.type ?? AppType.PUBLIC;
  const redirectUri = fields.redirectUris?.[0] ?? (type === AppType.PUBLIC ? loopbackCallback : callback);
  const usual = { scopes: ["events:read", "events:write"], redirectUris: [redirectUri] };
  return { ...(await makeApp(daybook, { ...usual, ...fields, type })), redirectUri };
}

/** What the makers of an app get from Daybook's metadata. */
export function configure(daybook: TestDaybook, { app, secret }: TestApp): Promise<oidc.Configuration> {
  return oidc.discovery(new URL(daybook.baseUrl), app.id, secret, secret === undefined ? oidc.None() : undefined, {
    algorithm: "oauth2",
    execute: [oidc.allowInsecureRequests],
  });
}

/** A browser that keeps cookies, whatever their path. */
export interface OAuthBrowser {
  get(url: string, headers?: Record<string, string>): Promise<Answer>;
  send(url: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Answer>;
  /** All of its cookies, to take them to another one. */
  cookies: Map<string, string>;
}

export function newOAuthBrowser(cookie?: { name: string; value: string }): OAuthBrowser {
  const cookies = new Map(cookie ? [[cookie.name, cookie.value]] : []);
  const header = (): string => [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const keep = (answer: Answer): Answer => {
    for (const pair of cookiesOf(answer).split("; ").filter(Boolean)) {
      const at = pair.indexOf("=");
      cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return answer;
  };
  return {
    cookies,
    async get(url, headers = {}) {
      const response = await fetch(url, { headers: { cookie: header(), ...headers }, redirect: "manual" });
      return keep({ status: response.status, headers: response.headers, text: await response.text() });
    },
    async send(url, fields, headers = sameOrigin) {
      return keep(await sendForm(url, fields, { cookie: header(), ...headers }));
    },
  };
}

/** A member who has just signed in, and her browser. @param grants by default she is an admin of all properties. */
export async function newConsenter(
  daybook: TestDaybook,
  grants?: MessageInitShape<typeof RoleGrantSchema>[],
): Promise<OAuthBrowser> {
  const { cookie } = await newMember(daybook, grants);
  return newOAuthBrowser(cookie);
}

export interface Request {
  url: URL;
  verifier: string;
  state: string;
}

/** The address that an app sends a browser to. */
export async function newRequest(
  config: oidc.Configuration,
  { app, redirectUri }: TestApp,
  fields: Record<string, string> = {},
): Promise<Request> {
  const verifier = oidc.randomPKCECodeVerifier();
  const state = oidc.randomState();
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: app.scopes.join(" "),
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    ...fields,
  });
  return { url, verifier, state };
}

export const locationOf = ({ headers }: Answer, base: string): string =>
  new URL(headers.get("location") ?? "", base).href;

export interface ConsentPage extends Answer {
  url: string;
  /** Of its form. */
  token: string;
}

/** Follows an authorization request to the page that asks. */
export async function openConsent(daybook: TestDaybook, browser: OAuthBrowser, url: URL): Promise<ConsentPage> {
  const sent = await browser.get(url.href);
  if (sent.status !== 303) return { ...sent, url: url.href, token: "" };
  const at = locationOf(sent, daybook.baseUrl);
  const page = await browser.get(at);
  return { ...page, url: at, token: /name="token" value="([^"]*)"/.exec(page.text)?.[1] ?? "" };
}

/** Answers the page. @returns where the browser of the member ends: at the app. */
export async function decide(
  daybook: TestDaybook,
  browser: OAuthBrowser,
  { url, token }: ConsentPage,
  fields: Record<string, string>,
): Promise<URL> {
  const decided = await browser.send(url, { token, ...fields });
  if (decided.status !== 303) throw new Error(`the decision was answered ${decided.status}: ${decided.text}`);
  const resumed = await browser.get(locationOf(decided, daybook.baseUrl));
  return new URL(locationOf(resumed, daybook.baseUrl));
}

/** Sends a browser to the page of a consent, and allows. @returns where the app gets its code. */
export async function allow(daybook: TestDaybook, browser: OAuthBrowser, url: URL, propertyId: string): Promise<URL> {
  const page = await openConsent(daybook, browser, url);
  return decide(daybook, browser, page, { decision: "allow", property_id: propertyId });
}

export interface Installed {
  config: oidc.Configuration;
  tokens: oidc.TokenEndpointResponse;
  accessToken: string;
  refreshToken: string;
}

/** Installs an app as its makers and a member do it. */
export async function install(
  daybook: TestDaybook,
  testApp: TestApp,
  propertyId: string,
  browser?: OAuthBrowser,
): Promise<Installed> {
  const config = await configure(daybook, testApp);
  const request = await newRequest(config, testApp);
  const back = await allow(daybook, browser ?? (await newConsenter(daybook)), request.url, propertyId);
  const tokens = await oidc.authorizationCodeGrant(config, back, {
    pkceCodeVerifier: request.verifier,
    expectedState: request.state,
  });
  return { config, tokens, accessToken: tokens.access_token, refreshToken: tokens.refresh_token ?? "" };
}
