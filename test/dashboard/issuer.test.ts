/** Sign-in by an OpenID Connect issuer, against a real one. */
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Role } from "#proto/daybook/identity/v1/members_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { startSingleProcess, testCall, type SingleProcess } from "../support/daybook.ts";
import { newBrowser, openBrowser, type Browser } from "../support/dashboard-http.ts";

const owner = new Owner();
const client = { clientId: "daybook", clientSecret: randomUUID() };
/** What the issuer knows of its accounts, by login. */
const accounts: Record<string, { email: string; email_verified: boolean; name?: string }> = {};
let daybook: SingleProcess;
let issuer: string;

beforeAll(async () => {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  owner.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  daybook = await startSingleProcess(owner, { dashboard: { issuer: { url: issuer, ...client } } });
  const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" });
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uris: [`${daybook.baseUrl}/dashboard/sign-in/callback`],
        id_token_signed_response_alg: "ES256",
      },
    ],
    jwks: { keys: [{ ...key, alg: "ES256", use: "sig" }] as never },
    cookies: { keys: [randomUUID()] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    findAccount: (_, login) => ({ accountId: login, claims: async () => ({ sub: login, ...accounts[login] }) }),
  });
  const answer = provider.callback();
  server.on("request", (request, response) => void answer(request, response));
}, 120_000);

afterAll(() => owner.close());

interface Step {
  status: number;
  headers: Headers;
  text: string;
}

/** A browser at both sites, with their cookies. */
function visitor() {
  const jars: Record<string, Map<string, string>> = {};
  const visit = async (address: string, form?: Record<string, string>): Promise<Step> => {
    const { origin } = new URL(address);
    const jar = (jars[origin] ??= new Map());
    const response = await fetch(address, {
      redirect: "manual",
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form ? { method: "POST", body: new URLSearchParams(form) } : {}),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === "") jar.delete(name);
      else jar.set(name, value);
    }
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return {
    visit,
    cookies: (): string => [...(jars[daybook.baseUrl] ?? [])].map(([name, value]) => `${name}=${value}`).join("; "),
  };
}

type Visitor = ReturnType<typeof visitor>;

/** Goes to the issuer and through its forms. @returns the address that it leads back to. */
async function goToIssuer({ visit }: Visitor, login: string, query = ""): Promise<string> {
  let { headers, text } = await visit(`${daybook.baseUrl}/dashboard/sign-in/issuer${query}`);
  for (let steps = 0; steps < 20; steps++) {
    const location = headers.get("location");
    if (location?.startsWith(daybook.baseUrl)) return location;
    if (location === null) {
      const action = new URL(/action="([^"]+)"/.exec(text)?.[1] ?? "", issuer).href;
      const prompt = /name="prompt" value="([^"]+)"/.exec(text)?.[1] ?? "";
      ({ headers, text } = await visit(action, { prompt, login, password: "any" }));
    } else {
      ({ headers, text } = await visit(new URL(location, issuer).href));
    }
  }
  throw new Error(`the issuer leads nowhere: ${text}`);
}

async function signIn(login: string, query = ""): Promise<Step & { visitor: Visitor }> {
  const person = visitor();
  return { ...(await person.visit(await goToIssuer(person, login, query))), visitor: person };
}

async function signedIn({ visitor: person }: { visitor: Visitor }): Promise<Browser> {
  return openBrowser(daybook.baseUrl, "", person.cookies());
}

test("the sign-in page leads to the issuer, which must vouch for the email of a member", async () => {
  const page = await (await fetch(`${daybook.baseUrl}/dashboard/sign-in`)).text();
  expect(page).toContain(`Sign in with ${new URL(issuer).host}`);
  const ada = await newBrowser(daybook);
  const login = randomUUID();
  accounts[login] = { email: ada.email.toUpperCase(), email_verified: false };
  const refused = await signIn(login);
  expect([refused.status, refused.text.includes("does not vouch for your email")]).toEqual([401, true]);
  accounts[login].email_verified = true;
  const answer = await signIn(login, "?next=/dashboard/prop_1/events");
  expect([answer.status, answer.headers.get("location")]).toEqual([303, "/dashboard/prop_1/events"]);
  expect((await signedIn(answer)).memberId).toBe(ada.memberId);
  // From now on the subject decides, whatever its email; another subject with her email is somebody else.
  const thief = randomUUID();
  accounts[thief] = { email: ada.email, email_verified: true };
  expect((await signIn(thief)).status).toBeGreaterThanOrEqual(400);
});

test("an email without a member or an invitation is refused, and an invitation is accepted", async () => {
  const login = randomUUID();
  const email = `${login}@example.com`;
  accounts[login] = { email, email_verified: true, name: "<Eve>" };
  const refused = await signIn(login);
  expect(refused.status).toBe(401);
  expect(refused.headers.getSetCookie().some((cookie) => /^daybook-\d+=[\w-]/.test(cookie))).toBe(false);
  await daybook.clients.members.inviteMember({ email, grants: [{ role: Role.VIEWER }] }, testCall);
  const eve = await signedIn(await signIn(login));
  const { body } = await eve.call("daybook.dashboard.v1.DashboardService/GetViewer");
  expect(body.member).toMatchObject({ email, name: "<Eve>", issuer });
});

test("a sign-in that another browser began, that was replayed or that the issuer refused opens nothing", async () => {
  const ada = await newBrowser(daybook);
  const login = randomUUID();
  accounts[login] = { email: ada.email, email_verified: true };
  const person = visitor();
  const callback = await goToIssuer(person, login);
  expect((await visitor().visit(callback)).status).toBe(401);
  const other = visitor();
  await goToIssuer(other, login);
  expect((await other.visit(callback)).status).toBe(401);
  expect((await person.visit(callback)).status).toBe(303);
  expect((await person.visit(callback)).status).toBe(401);
  const denied = visitor();
  const { searchParams } = new URL(await goToIssuer(denied, login));
  const error = new URLSearchParams({ error: "<b>", state: searchParams.get("state") ?? "", iss: issuer });
  const answer = await denied.visit(`${daybook.baseUrl}/dashboard/sign-in/callback?${error.toString()}`);
  expect([answer.status, answer.text.includes("<b>")]).toEqual([401, false]);
});

test("a fresh sign-in asks at the issuer again, and replaces the session", async () => {
  const ada = await newBrowser(daybook);
  const login = randomUUID();
  accounts[login] = { email: ada.email, email_verified: true };
  const person = visitor();
  await person.visit(await goToIssuer(person, login));
  const before = await openBrowser(daybook.baseUrl, "", person.cookies());
  const freshUntil = async (browser: Browser): Promise<string> =>
    (await browser.call("daybook.dashboard.v1.DashboardService/GetViewer")).body.session.freshUntil;
  const freshFirst = await freshUntil(before);
  // The issuer knows her now and asks nothing, so a sign-in of later is no fresher.
  await person.visit(await goToIssuer(person, login));
  const silent = await openBrowser(daybook.baseUrl, "", person.cookies());
  expect(silent.cookie).not.toBe(before.cookie);
  expect(await freshUntil(silent)).toBe(freshFirst);
  let asked = await person.visit(`${daybook.baseUrl}/dashboard/sign-in/issuer?fresh=true`);
  expect(new URL(asked.headers.get("location") ?? "").searchParams.get("prompt")).toBe("login");
  asked = await person.visit(await goToIssuer(person, login, "?fresh=true"));
  expect(asked.status).toBe(303);
  const after = await openBrowser(daybook.baseUrl, "", person.cookies());
  expect([after.memberId, after.cookie === before.cookie]).toEqual([ada.memberId, false]);
  const path = "daybook.identity.v1.MemberService/ListSessions";
  expect((await before.call(path)).code).toBe("sign_in_required");
});
