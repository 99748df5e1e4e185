/** The authorization server: oidc-provider, set up for OAuth 2.1 alone, without OpenID Connect. */
import type { Client } from "@connectrpc/connect";
import type {
  errors as Errors,
  interactionPolicy as Policy,
  KoaContextWithOIDC,
  Provider as Library,
} from "oidc-provider";
import type { Counter } from "prom-client";
import type { Installation } from "#proto/daybook/identity/v1/apps_pb.ts";
import { Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import type { OAuthService } from "#proto/daybook/identity/v1/oauth_pb.ts";
import type { Log } from "#shared/process/log.ts";
import type { Clock } from "#shared/values/clock.ts";
import { html } from "../docs/html.ts";
import { renderPage } from "../dashboard/pages/layout.ts";
import type { AddressWindows } from "../rate/address-windows.ts";
import { createAdapters } from "./adapter.ts";
import { compareSecretsByHash, extraClientMetadata } from "./clients.ts";
import { tooManyRequests } from "./errors.ts";
import { errors, interactionPolicy, Provider } from "./library.ts";
import { consentPath, metadataPath, oauthPaths } from "./paths.ts";
import { scopesInWords } from "./scope-words.ts";
import type { OAuthSecrets } from "./secrets.ts";

export interface ProviderOptions {
  oauth: Client<typeof OAuthService>;
  /** PUBLIC_URL: an origin. */
  issuer: string;
  secrets: OAuthSecrets;
  clock: Clock;
  log: Log;
  /** Codes and refresh tokens that were used again. */
  reuses: Counter;
  graceSeconds: number;
  /** Good token requests, by app. */
  appWindows: AddressWindows;
}

const codeSeconds = 60;
const accessTokenSeconds = 60 * 60;
const refreshTokenSeconds = 90 * 24 * 60 * 60;
const interactionSeconds = 30 * 60;
// Not kept: see adapter.ts.
const sessionSeconds = interactionSeconds;
const tokenBits = 256;

const scopeNames = scopesInWords.map(({ scope }) => scope);
const known: ReadonlySet<string> = new Set(scopeNames);

export function createProvider(options: ProviderOptions): Library {
  const { issuer, secrets, log, reuses, appWindows } = options;
  const installations = new WeakMap<KoaContextWithOIDC, Installation>();
  const adapter = createAdapters({
    ...options,
    takeRequest(clientId) {
      const { isOver, limit, resetSeconds } = appWindows.take(clientId);
      if (!isOver) return;
      Provider.ctx?.set("retry-after", `${resetSeconds}`);
      throw tooManyRequests(`The limit of ${limit} token requests a minute of an app is reached.`);
    },
    noteReuse(clientId) {
      reuses.inc();
      log.warn({ appId: clientId }, "a code or refresh token was used again, and its installation ended");
    },
    noteInstallation(installation) {
      if (Provider.ctx) installations.set(Provider.ctx, installation);
    },
  });

  const provider = new Provider(issuer, {
    adapter,
    routes: oauthPaths,
    scopes: scopeNames,
    claims: {},
    responseTypes: ["code"],
    clientAuthMethods: ["client_secret_basic", "client_secret_post", "none"],
    extraClientMetadata,
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    // Access outlasts the sign-in of the member who gave it.
    expiresWithSession: () => false,
    allowOmittingSingleRegisteredRedirectUri: false,
    jwks: { keys: [secrets.signingKey] },
    formats: { bitsOfOpaqueRandomness: tokenBits },
    ttl: {
      AuthorizationCode: codeSeconds,
      AccessToken: accessTokenSeconds,
      RefreshToken: refreshTokenSeconds,
      Interaction: interactionSeconds,
      Session: sessionSeconds,
    },
    cookies: {
      keys: secrets.cookieKeys,
      names: { session: "daybook-oauth", interaction: "daybook-oauth-interaction", resume: "daybook-oauth-resume" },
      long: cookieOptions(issuer),
      short: cookieOptions(issuer),
    },
    interactions: {
      url: (_ctx, { uid }) => consentPath + uid,
      policy: [consentPrompt()],
    },
    // A consent is given each time: an earlier one is used for what it gave only.
    async loadExistingGrant({ oidc }) {
      const grantId = oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : oidc.provider.Grant.find(grantId);
    },
    findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    renderError(ctx, { error, error_description: description }) {
      const { headers, text } = renderPage({
        title: "This app cannot be connected",
        main: html`<p>
            The app sent you here with a request that Daybook does not accept. Nothing was shared with it. Tell its
            makers what stands below.
          </p>
          <p class="note"><code>${error}</code>${description !== undefined && `: ${description}`}</p>`,
      });
      ctx.set(headers);
      ctx.body = text;
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: true },
      resourceIndicators: { enabled: false },
      revocation: { enabled: true },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
    },
  });
  // Host and scheme are those of PUBLIC_URL: see surface.ts.
  provider.proxy = true;
  compareSecretsByHash(provider);
  deriveSuccessors(provider, secrets);
  provider.on("server_error", (ctx, error) =>
    log.error({ err: error, requestId: ctx.res.getHeader("x-request-id"), route: ctx.path }, "OAuth failed"),
  );
  provider.use(async (ctx: KoaContextWithOIDC, next) => {
    await next();
    if (ctx.path === oauthPaths.pushed_authorization_request && ctx.status === 201) checkPushedScope(ctx);
    completeAnswer(ctx, installations.get(ctx));
  });
  return provider;
}

function cookieOptions(issuer: string) {
  return {
    httpOnly: true,
    sameSite: "lax",
    signed: true,
    overwrite: true,
    secure: issuer.startsWith("https:"),
  } as const;
}

/** Asks for consent each time. */
function consentPrompt(): Policy.Prompt {
  const { Check, Prompt } = interactionPolicy;
  return new Prompt(
    { name: "consent", requestable: true },
    new Check("scopes_known", "scopes must be known", "invalid_scope", ({ oidc, query }) => {
      checkScope(query.scope ?? oidc.params?.scope);
      return Check.NO_NEED_TO_PROMPT;
    }),
    new Check("consent_missing", "a member must consent", "consent_required", ({ oidc }) =>
      oidc.result?.consent?.grantId === undefined ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT,
    ),
  );
}

/**
 * Refuses a request without scopes, and unknown scopes. The library refuses scopes that the app does not have, but
 * drops unknown ones silently.
 * @param asked as the app has sent it.
 */
function checkScope(asked: unknown): void {
  const scopes = typeof asked === "string" ? asked.split(" ").filter(Boolean) : [];
  if (scopes.length === 0) throw new errors.InvalidScope("scope must name what the app asks for", "");
  const unknown = scopes.find((scope) => !known.has(scope));
  if (unknown !== undefined) throw new errors.InvalidScope("requested scope is not allowed", unknown);
}

/** Refuses unknown scopes of a pushed request here: the library has dropped them when the request comes back. */
function checkPushedScope(ctx: KoaContextWithOIDC): void {
  try {
    checkScope(ctx.oidc.body?.scope);
  } catch (error) {
    const { error: code, error_description: description } = error as Errors.InvalidScope;
    ctx.status = 400;
    ctx.body = { error: code, error_description: description };
  }
}

type Generate = (this: { scope?: string }) => string;

/** Tokens that follow a refresh token are derived from it: see secrets.ts. */
function deriveSuccessors({ AccessToken, RefreshToken }: Library, secrets: OAuthSecrets): void {
  for (const [kind, model] of [
    ["access", AccessToken],
    ["refresh", RefreshToken],
  ] as const) {
    // The types leave this method out.
    const prototype = model.prototype as unknown as { generateTokenId: Generate };
    const random = prototype.generateTokenId;
    prototype.generateTokenId = function generate(this) {
      // Always called: it also notes the format of the token.
      const id = random.call(this);
      const before = Provider.ctx?.oidc.entities.RotatedRefreshToken?.jti;
      return before === undefined ? id : secrets.successor(kind, before, this.scope ?? "");
    };
  }
}

// Of OpenID Connect.
const foreignMetadata = [
  "acr_values_supported",
  "claim_types_supported",
  "claims_parameter_supported",
  "claims_supported",
  "id_token_signing_alg_values_supported",
  "subject_types_supported",
];

/** Adds what is ours to an answer, and removes what we do not offer. */
function completeAnswer(ctx: KoaContextWithOIDC, installation: Installation | undefined): void {
  if (ctx.status !== 200 || typeof ctx.body !== "object" || ctx.body === null) return;
  const body = ctx.body as Record<string, unknown>;
  if (ctx.path === oauthPaths.token && installation) {
    body.property_id = installation.propertyId;
    body.installation_id = installation.id;
    body.livemode = installation.mode === Mode.LIVE;
  }
  if (ctx.path === metadataPath) {
    for (const name of foreignMetadata) delete body[name];
    body.response_modes_supported = ["query"];
    body.service_documentation = `${ctx.oidc.issuer}/docs`;
  }
}
