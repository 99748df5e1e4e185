/** The pages that work without script: setup, invitation, sign-in; their cookies, headers and files. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Role } from "#proto/daybook/identity/v1/members_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { safeNext } from "../../gateway/dashboard/pages/forms.ts";
import { startSingleProcess, testCall, type SingleProcess } from "../support/daybook.ts";
import { cookiesOf, newBrowser, openBrowser, sameOrigin, sendForm, type Browser } from "../support/dashboard-http.ts";
import { password } from "../support/members.ts";

const owner = new Owner();
const script = "assets/main-abcd1234.js";
const code = "export const answer = 42;\n".repeat(50);
let daybook: SingleProcess;
let url: string;
let first: { cookie: string; setupToken: string };
let ada: Browser;

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url + path, { headers, redirect: "manual" });

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "daybook-ui-"));
  owner.defer(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), "<!doctype html><title>the app</title>");
  await writeFile(join(folder, script), code);
  await writeFile(join(folder, `${script}.br`), brotliCompressSync(code));
  await writeFile(join(folder, "secret.js"), "not an asset");
  // The proxy is trusted, so that a test can say how the browser came.
  const edge = { trustedProxies: ["127.0.0.1"] };
  daybook = await startSingleProcess(owner, { dashboard: { uiFolder: folder }, edge });
  url = daybook.baseUrl;
  const { token } = await daybook.clients.members.createSetupLink({}, testCall);
  first = { cookie: "", setupToken: token };
}, 120_000);

afterAll(() => owner.close());

describe("the setup link", () => {
  test("makes the first member, once, and keeps what was typed when something is wrong", async () => {
    const page = `${url}/dashboard/setup`;
    const account = { email: "ada@example.com", name: 'Ada "<b>"', link: `http://x/#${first.setupToken}` };
    const asked = await sendForm(page, { link: account.link });
    expect([asked.status, asked.text.includes('autocomplete="new-password"')]).toEqual([200, true]);
    const short = await sendForm(page, { ...account, password: "<too-short" });
    expect(short.status).toBe(400);
    expect(short.text).toMatch(/id="password-fault"/);
    expect(short.text).toContain('value="Ada &#34;&#60;b&#62;&#34;"');
    expect(short.text).not.toContain("too-short");
    const [won, lost] = await Promise.all([1, 2].map(() => sendForm(page, { ...account, password })));
    const hasWon = won?.status === 303;
    expect([hasWon, lost?.status === 303]).toEqual([hasWon, !hasWon]);
    first.cookie = cookiesOf(hasWon ? won : (lost ?? asked));
    expect((await get("/dashboard/", { cookie: first.cookie })).status).toBe(200);
    const again = await sendForm(page, { ...account, password });
    expect([again.status, again.text.includes("not good any more")]).toEqual([404, true]);
    ada = await newBrowser(daybook);
  });
});

describe("sign-in", () => {
  const path = "/dashboard/sign-in";
  const signIn = (fields: Record<string, string>, headers: Record<string, string> = sameOrigin) =>
    sendForm(url + path, { email: ada.email, password, ...fields }, headers);

  test("leads to the page that was asked for, and the session opens it", async () => {
    const asked = await get("/dashboard/prop_1/events?type=a");
    expect([asked.status, asked.headers.get("location")]).toEqual([
      303,
      "/dashboard/sign-in?next=%2Fdashboard%2Fprop_1%2Fevents%3Ftype%3Da",
    ]);
    const answer = await signIn({ next: "/dashboard/prop_1/events?type=a" });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/dashboard/prop_1/events?type=a"]);
    const app = await get("/dashboard/prop_1/events", { cookie: cookiesOf(answer) });
    expect([app.status, await app.text()]).toEqual([200, "<!doctype html><title>the app</title>"]);
  });

  test("by a link, and signing out, leave entries in the audit", async () => {
    const { members } = daybook.clients;
    const email = "grace@example.com";
    const accept = async (grants: { role: Role }[]): Promise<string> => {
      const { token } = await members.inviteMember({ email, grants }, testCall);
      return cookiesOf(await sendForm(`${url}/dashboard/invitation`, { link: token, name: "Grace", password }));
    };
    const grace = await openBrowser(url, email, await accept([{ role: Role.VIEWER }]));
    await grace.call("daybook.dashboard.v1.DashboardService/SignOut");
    await accept([]);
    const { entries } = await members.listAudit({ memberId: grace.memberId, limit: 10 }, testCall);
    expect(entries.map(({ action }) => action)).toEqual([
      "password_replaced",
      "daybook.dashboard.v1.DashboardService/SignOut",
      "account_made",
    ]);
  });

  test("ends the session that the browser had", async () => {
    const before = cookiesOf(await signIn({}));
    await signIn({}, { ...sameOrigin, cookie: before });
    expect((await get("/dashboard/", { cookie: before })).status).toBe(303);
  });

  test.each([
    ["http", "127.0.0.1:8080", /^daybook-8080=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/],
    ["http", "localhost", /^daybook-80=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/],
    ["http", "[::1]:9", /^daybook-9=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/],
    ["https", "shop.example", /^__Host-daybook=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax; Secure$/],
    ["http", "shop.example", undefined],
    ["http", "127.0.0.1.shop.example", undefined],
    ["http", "10.0.0.7", undefined],
  ])("over %s at %s sets its cookie, or none where none is safe", async (scheme, host, cookie) => {
    const from = { ...sameOrigin, "x-forwarded-proto": scheme, "x-forwarded-host": host };
    const { status, headers, text } = await signIn({}, from);
    if (cookie) {
      expect(headers.getSetCookie()).toEqual([expect.stringMatching(cookie)]);
    } else {
      expect([status, headers.getSetCookie()]).toEqual([403, []]);
      expect(text).toContain("PUBLIC_URL");
      // Nor is a cookie taken there.
      const { cookie: known } = ada;
      expect((await get("/dashboard/", { ...from, cookie: known })).status).toBe(403);
    }
  });

  test.each([
    ["of another site", { "sec-fetch-site": "cross-site" }],
    ["of another port", { origin: "http://127.0.0.1:1" }],
    ["without an origin", {}],
    ["of nobody", { origin: "null" }],
  ])("of a form %s is refused", async (_, headers) => {
    for (const page of [path, "/dashboard/setup", "/dashboard/invitation"]) {
      const answer = await sendForm(url + page, { email: ada.email, password }, headers);
      expect([page, answer.status, answer.headers.getSetCookie()]).toEqual([page, 403, []]);
    }
  });

  test("says the same of a wrong password and an unknown email, at the field", async () => {
    const wrong = await signIn({ password: "wrong wrong wrong" });
    const unknown = await signIn({ email: "nobody@example.com", password: "wrong wrong wrong" });
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(wrong.text.replaceAll(ada.email, "")).toBe(unknown.text.replaceAll("nobody@example.com", ""));
    expect(wrong.text).toMatch(/aria-describedby="password-fault"\s+aria-invalid="true"\s+autofocus/);
    expect(wrong.text).toContain(`value="${ada.email}"`);
    expect(wrong.text).not.toContain("wrong wrong");
  });

  test("says how long to wait after many wrong passwords", async () => {
    const email = "many@example.com";
    let answer = await signIn({ email, password: "wrong" });
    for (let tries = 0; answer.status === 401 && tries < 100; tries++) answer = await signIn({ email, password: "x" });
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(answer.text).toMatch(/Try again in \d+ (?:seconds?|minutes)\./);
  });
});

test.each([
  ["/dashboard/", "/dashboard/"],
  ["/dashboard/prop_1/events?a=b#c", "/dashboard/prop_1/events?a=b#c"],
  ["", "/dashboard/"],
  ["https://evil.example/", "/dashboard/"],
  ["//evil.example/dashboard/", "/dashboard/"],
  ["/\\evil.example/dashboard/", "/dashboard/"],
  ["/dashboard/..//evil.example", "/dashboard/"],
  ["/dashboard/../v1/events", "/dashboard/"],
  ["/dashboard/%2e%2e/v1/events", "/dashboard/"],
  ["/dashboard/\r\nset-cookie: a=b", "/dashboard/"],
  ["javascript:alert(1)", "/dashboard/"],
  ["/dashboardx", "/dashboard/"],
])("after sign-in %j leads to %j", (next, target) => {
  expect(safeNext(next)).toBe(target);
});

test("no page has a text that came with the request as markup, or a script or style of its own", async () => {
  const attack = `"><script>alert(1)</script>'`;
  const pages = await Promise.all([
    get(`/dashboard/sign-in?next=${encodeURIComponent(`/dashboard/${attack}`)}`).then((answer) => answer.text()),
    sendForm(`${url}/dashboard/sign-in`, { email: attack, password: attack, next: attack }).then(({ text }) => text),
    sendForm(`${url}/dashboard/invitation`, { link: attack, name: attack, email: attack }).then(({ text }) => text),
    get(`/dashboard/assets/${encodeURIComponent(attack)}`).then((answer) => answer.text()),
    fetch(`${url}/dashboard/${encodeURIComponent(attack)}`, { method: "PUT" }).then((answer) => answer.text()),
  ]);
  for (const text of pages) {
    expect(text).toMatch(/^<!doctype html>/);
    expect(text).not.toContain("<script>");
    expect(text).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/i);
  }
});

test("every page and the app has the policy, and no other site learns of it", async () => {
  const { cookie } = ada;
  for (const path of ["/dashboard/sign-in", "/dashboard/setup", "/dashboard/invitation", "/dashboard/prop_1"]) {
    const { headers } = await get(path, path.endsWith("prop_1") ? { cookie } : {});
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    for (const part of ["frame-ancestors 'none'", "base-uri 'none'", "require-trusted-types-for 'script'"]) {
      expect(policy).toContain(part);
    }
    expect(policy).not.toContain("unsafe");
    expect(headers.get("referrer-policy")).toMatch(/^(?:no-referrer|same-origin)$/);
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(headers.get("cache-control")).toBe("no-store");
  }
});

test("files of the build are kept for good, compressed, and nothing else is served", async () => {
  const plain = await get(`/dashboard/${script}`, { "accept-encoding": "identity" });
  expect([plain.status, await plain.text()]).toEqual([200, code]);
  const small = await get(`/dashboard/${script}`, { "accept-encoding": "gzip, br" });
  expect(small.headers.get("content-encoding")).toBe("br");
  expect(small.headers.get("vary")).toMatch(/Accept-Encoding/);
  expect(small.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(await small.text()).toBe(code);
  const tag = small.headers.get("etag") ?? "";
  expect(tag).not.toBe(plain.headers.get("etag"));
  const known = await get(`/dashboard/${script}`, { "accept-encoding": "br", "if-none-match": tag });
  expect([known.status, await known.text()]).toEqual([304, ""]);
  for (const path of ["secret.js", "..%2fsecret.js", "%2e%2e/index.html", `${script.slice(7)}.br`, ""]) {
    const answer = await get(`/dashboard/assets/${path}`);
    expect([path, answer.status === 404 || answer.status === 303]).toEqual([path, true]);
    expect(await answer.text()).not.toContain("not an asset");
  }
});

test("without a build the page says what to run, and the API goes on", async () => {
  const without = new Owner();
  try {
    const bare = await startSingleProcess(without, { dashboard: { uiFolder: join(tmpdir(), "no-such-folder") } });
    const { cookie } = await newBrowser(bare, [{ role: Role.VIEWER }]);
    const answer = await fetch(`${bare.baseUrl}/dashboard/`, { headers: { cookie } });
    expect([answer.status, (await answer.text()).includes("npm run build")]).toEqual([503, true]);
    expect((await fetch(`${bare.baseUrl}/v1/events`)).status).toBe(401);
  } finally {
    await without.close();
  }
}, 60_000);
