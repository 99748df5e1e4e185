/** Where browsers and apps find the authorization server. */

/** By the names that oidc-provider gives its routes. */
export const oauthPaths = {
  authorization: "/oauth/authorize",
  token: "/oauth/token",
  revocation: "/oauth/revoke",
  jwks: "/oauth/jwks",
  pushed_authorization_request: "/oauth/par",
} as const;

/** Of RFC 8414. */
export const metadataPath = "/.well-known/oauth-authorization-server";

/** Before the id of a request: the page that asks for consent to an app. */
export const consentPath = "/oauth/interactions/";
