/**
 * Last orders: an app of a partner, in one file. It connects itself to a property of Daybook by OAuth 2.1, lists the
 * last orders, refreshes its access, and gives it back. It has one user and remembers nothing when it stops; a real app
 * keeps the tokens of each installation in its database, encrypted.
 */
import { createServer } from "node:http";
import * as oidc from "openid-client";

const daybookUrl = new URL(process.env.DAYBOOK_URL ?? "http://127.0.0.1:8080");
const port = Number(process.env.PORT ?? 3000);
const clientId = process.env.CLIENT_ID;
if (clientId === undefined) throw new Error("CLIENT_ID must be set to the id of the app, which starts with app_");

const origin = `http://127.0.0.1:${port}`;
const redirectUri = `${origin}/callback`;
// Access tokens are good for an hour. One that is about to end is replaced before it is used.
const refreshBeforeMs = 60_000;

// Daybook's metadata says where everything is. Plain HTTP is for a Daybook on the same computer only.
const isLocal = daybookUrl.protocol === "http:";
const config = await oidc.discovery(daybookUrl, clientId, undefined, oidc.None(), {
  algorithm: "oauth2",
  execute: isLocal ? [oidc.allowInsecureRequests] : [],
});

/** What the app has begun: the way back is good for the browser that went. */
let pending;
/** What Daybook gave. */
let access;
let refreshing;

function keep(tokens) {
  access = {
    accessToken: tokens.access_token,
    // The one before is used up: the new one must not be lost.
    refreshToken: tokens.refresh_token,
    endsAtMs: Date.now() + (tokens.expires_in ?? 0) * 1000,
    propertyId: tokens.property_id,
    installationId: tokens.installation_id,
  };
}

/** Sends the browser to Daybook, where a member picks a property and consents. */
async function connect() {
  const verifier = oidc.randomPKCECodeVerifier();
  const state = oidc.randomState();
  pending = { verifier, state };
  return oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: "accounts:read events:read",
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
  }).href;
}

/** Takes the code that the browser brings back. The library checks state and issuer. */
async function comeBack(url, cookie) {
  const { verifier, state } = pending ?? {};
  pending = undefined;
  if (state === undefined || !cookie.includes(`state=${state}`)) throw new Error("This way back was not begun here.");
  keep(await oidc.authorizationCodeGrant(config, url, { pkceCodeVerifier: verifier, expectedState: state }));
}

/** Replaces the tokens, once however many requests need it. */
function refresh() {
  refreshing ??= oidc
    .refreshTokenGrant(config, access.refreshToken)
    .then(keep, (error) => {
      // Daybook ended the installation, or somebody uninstalled the app there.
      if (error.error === "invalid_grant") access = undefined;
      throw error;
    })
    .finally(() => (refreshing = undefined));
  return refreshing;
}

/** Calls Daybook's API. */
async function call(path) {
  if (access.endsAtMs - Date.now() < refreshBeforeMs) await refresh();
  const send = () => fetch(new URL(path, daybookUrl), { headers: { authorization: `Bearer ${access.accessToken}` } });
  let response = await send();
  if (response.status === 401) {
    await refresh();
    response = await send();
  }
  if (!response.ok) throw new Error(`Daybook answered ${response.status}: ${await response.text()}`);
  return response.json();
}

/** Gives the refresh token back, which ends the installation. */
async function uninstall() {
  const { refreshToken } = access;
  access = undefined;
  await oidc.tokenRevocation(config, refreshToken);
}

const escape = (text) => String(text).replaceAll(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
const button = (action, label) => `<form method="post" action="${action}"><button>${label}</button></form>`;

async function showOrders() {
  const { data: account } = await call("/v1/account");
  const { data } = await call("/v1/events?filter[type]=order.completed&sort=-occurred_at&page[limit]=10");
  const rows = data.map(
    ({ occurred_at: at, value, currency }) =>
      `<tr><td>${escape(at)}</td><td>${escape(value ?? "")} ${escape(currency ?? "")}</td></tr>`,
  );
  return `<p>Connected to <b>${escape(account.property.name)}</b> as ${escape(access.installationId)}.</p>
    <table><caption>Last orders</caption><tr><th>Time</th><th>Value</th></tr>${rows.join("")}</table>
    ${button("/refresh", "Refresh the access")} ${button("/uninstall", "Uninstall")}`;
}

const page = (main) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Last orders</title>
  <meta name="viewport" content="width=device-width"><h1>Last orders</h1>${main}</html>`;

const routes = {
  "GET /": async () => ({
    body: access ? await showOrders() : `<p>Not connected.</p>${button("/connect", "Connect to Daybook")}`,
  }),
  "POST /connect": async () => {
    const location = await connect();
    return { location, cookie: `state=${pending.state}; HttpOnly; SameSite=Lax; Path=/callback; Max-Age=1800` };
  },
  "GET /callback": async (url, { cookie = "" }) => {
    await comeBack(url, cookie);
    return { location: "/" };
  },
  "POST /refresh": async () => {
    await refresh();
    return { location: "/" };
  },
  "POST /uninstall": async () => {
    await uninstall();
    return { location: "/" };
  },
};

/** Forms of other sites are refused. */
const isOwn = ({ method, headers }) => method !== "POST" || headers["sec-fetch-site"] === "same-origin";

const server = createServer(async (request, response) => {
  const url = new URL(request.url, origin);
  const route = routes[`${request.method} ${url.pathname}`];
  response.setHeader("content-type", "text/html; charset=utf-8");
  // The address of the callback has a code.
  response.setHeader("referrer-policy", "same-origin");
  try {
    if (!route || !isOwn(request)) return response.writeHead(404).end(page("<p>There is nothing here.</p>"));
    const { location, cookie, body = "" } = await route(url, request.headers);
    if (cookie !== undefined) response.setHeader("set-cookie", cookie);
    if (location === undefined) return response.end(page(body));
    return response.writeHead(303, { location }).end();
  } catch (error) {
    const reason = error.error_description ?? error.message;
    return response.writeHead(500).end(page(`<p>${escape(reason)}</p><p><a href="/">Back</a></p>`));
  }
});

server.listen(port, "127.0.0.1", () => process.stdout.write(`Open ${origin}\n`));
