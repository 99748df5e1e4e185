/** What apps and installations may hold. */
import { randomBase62 } from "#shared/values/base62.ts";
import { DaybookError, type FieldError } from "#shared/values/errors.ts";
import { textProblem } from "#shared/json/json.ts";
import { isLongerThan } from "#shared/values/text.ts";
import { typeListFaults } from "#shared/values/webhook-type-list.ts";
import { missing, shorten } from "#shared/values/wording.ts";
import { nameFault } from "./names.ts";
import { homepageProblem, redirectProblem, urlLengthMax, webhookProblem } from "./app-urls.ts";
import { isScope, scopes as allScopes } from "./scopes.ts";

export type AppTypeName = "confidential" | "public";
export type AppStatusName = "active" | "suspended";
export type RevokedReasonName = "uninstalled" | "token_reuse" | "app" | "suspended" | "operator";

/** Two, so that one can be replaced without a gap. */
export const secretsMax = 2;
const secretRandomLength = 43;
const descriptionLengthMax = 1_000;
const redirectUrisMax = 10;
const scopeLengthMax = 64;

/** A new secret of an app from the system's CSPRNG: `cs_`, then 43 base-62 characters, 256 bits. */
export function newAppSecret(): string {
  return `cs_${randomBase62(secretRandomLength)}`;
}

/**
 * Checks the scopes that a member consents to.
 * @returns each once.
 * @throws DaybookError `missing_scope` for one that the app does not have; as of an app for any other fault.
 */
export function readConsent(scopes: readonly string[], ofApp: readonly string[]): string[] {
  const faults = scopeFaults(scopes);
  if (faults.length > 0) throw DaybookError.ofFields(faults);
  const beyond = scopes.find((scope) => !ofApp.includes(scope));
  if (beyond === undefined) return [...new Set(scopes)];
  throw new DaybookError("missing_scope", `The app does not have the scope ${beyond}.`, { param: "scopes" });
}

/** What is said of an app. Undefined fields are not checked. */
export interface AppFields {
  name?: string | undefined;
  description?: string | undefined;
  homepageUrl?: string | undefined;
  redirectUris?: readonly string[] | undefined;
  scopes?: readonly string[] | undefined;
  webhook?: { readonly url: string; readonly types: readonly string[] } | undefined;
}

/** Every fault of what is said of an app. The length of a value is looked at before anything else of it. */
export function faultsOfApp(fields: AppFields, type: AppTypeName): FieldError[] {
  const { name, description, homepageUrl, redirectUris, scopes, webhook } = fields;
  return [
    ...[name === undefined ? undefined : nameFault(name)].filter((fault) => fault !== undefined),
    ...(description === undefined ? [] : descriptionFaults(description)),
    ...(homepageUrl === undefined ? [] : urlFaults("homepage_url", homepageUrl, homepageProblem)),
    ...(redirectUris === undefined ? [] : redirectFaults(redirectUris, type)),
    ...(scopes === undefined ? [] : scopeFaults(scopes)),
    ...(webhook === undefined ? [] : webhookFaults(webhook)),
  ];
}

function descriptionFaults(description: string): FieldError[] {
  if (!isLongerThan(description, descriptionLengthMax) && textProblem(description) === undefined) return [];
  return [invalid("description", `must have at most ${descriptionLengthMax} characters`)];
}

function redirectFaults(uris: readonly string[], type: AppTypeName): FieldError[] {
  const param = "redirect_uris";
  if (uris.length === 0) return [missing(param, "where browsers are sent back to")];
  if (uris.length > redirectUrisMax) {
    return [{ ...invalid(param, `must have at most ${redirectUrisMax} items`), code: "too_many_items" }];
  }
  return uris.flatMap((uri, index) => {
    const faults = urlFaults(`${param}.${index}`, uri, (text) => redirectProblem(text, type === "public"));
    if (faults.length > 0 || uris.indexOf(uri) === index) return faults;
    return [{ ...invalid(`${param}.${index}`, "is there twice"), code: "parameter_conflict" as const }];
  });
}

function webhookFaults({ url, types }: NonNullable<AppFields["webhook"]>): FieldError[] {
  const faults = urlFaults("webhook.url", url, webhookProblem).map((fault): FieldError => ({
    ...fault,
    code: "url_not_allowed",
  }));
  return [...faults, ...typeListFaults(types, "webhook.types")];
}

function urlFaults(param: string, text: string, problemOf: (text: string) => string | undefined): FieldError[] {
  const problem = text.length > urlLengthMax ? `must have at most ${urlLengthMax} characters` : problemOf(text);
  return problem === undefined ? [] : [invalid(param, problem)];
}

/** The faults of a list of scopes: at least one, each from the vocabulary. */
export function scopeFaults(scopes: readonly string[]): FieldError[] {
  if (scopes.length === 0) return [missing("scopes", "at least one scope")];
  if (scopes.length > allScopes.length) {
    return [{ ...invalid("scopes", `must have at most ${allScopes.length} items`), code: "too_many_items" }];
  }
  return scopes.flatMap((scope, index) =>
    isScope(scope)
      ? []
      : [invalid(`scopes.${index}`, `must be a scope; there is none "${shorten(scope, scopeLengthMax)}"`)],
  );
}

function invalid(param: string, rule: string): FieldError {
  return { code: "parameter_invalid", message: `\`${param}\` ${rule}.`, param };
}
