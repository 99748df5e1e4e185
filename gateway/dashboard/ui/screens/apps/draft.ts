/** An app as its form has it. */
import { type App, AppType } from "#proto/daybook/identity/v1/apps_pb.ts";

export interface Draft {
  name: string;
  description: string;
  /** Empty: none. */
  homepageUrl: string;
  type: AppType;
  /** One a line. */
  redirectUris: string;
  scopes: ReadonlySet<string>;
  /** Empty: none. */
  webhookUrl: string;
  /** One a line. */
  webhookTypes: string;
}

export const emptyDraft: Draft = {
  name: "",
  description: "",
  homepageUrl: "",
  type: AppType.CONFIDENTIAL,
  redirectUris: "",
  scopes: new Set(),
  webhookUrl: "",
  webhookTypes: "*",
};

export function draftOf(app: App): Draft {
  const { name, description, homepageUrl = "", type, redirectUris, scopes, webhook } = app;
  return {
    name,
    description,
    homepageUrl,
    type,
    redirectUris: redirectUris.join("\n"),
    scopes: new Set(scopes),
    webhookUrl: webhook?.url ?? "",
    webhookTypes: webhook?.types.join("\n") ?? "*",
  };
}

export function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** Whether all is there that an app must have. */
export function isComplete({ name, redirectUris, scopes }: Draft): boolean {
  return name.trim() !== "" && linesOf(redirectUris).length > 0 && scopes.size > 0;
}

/** The webhook of a form; one with an empty address is none. */
export function webhookOf({ webhookUrl, webhookTypes }: Draft) {
  return { url: webhookUrl.trim(), types: linesOf(webhookTypes) };
}

/** What a form changes of an app; nothing for what stays. */
export function changesOf(app: App, draft: Draft) {
  const before = draftOf(app);
  const uris = linesOf(draft.redirectUris);
  const homepageUrl = draft.homepageUrl.trim();
  return {
    ...(draft.name !== before.name && { name: draft.name }),
    ...(draft.description !== before.description && { description: draft.description }),
    ...(homepageUrl !== before.homepageUrl && { homepageUrl }),
    ...(uris.join("\n") !== before.redirectUris && { redirectUris: uris }),
    ...(isSameWebhook(before, draft) ? {} : { webhook: webhookOf(draft) }),
    ...(draft.scopes.symmetricDifference(before.scopes).size > 0 && { scopes: [...draft.scopes] }),
  };
}

function isSameWebhook(before: Draft, draft: Draft): boolean {
  const [one, other] = [webhookOf(before), webhookOf(draft)];
  return one.url === other.url && (one.url === "" || one.types.join("\n") === other.types.join("\n"));
}

const fields = new Set([
  "name",
  "description",
  "homepage_url",
  "redirect_uris",
  "scopes",
  "webhook.url",
  "webhook.types",
]);
/** Those of which each line is an item. */
const lists = new Set(["redirect_uris", "webhook.types"]);

/**
 * What is wrong with fields of the form: of a list, with each line.
 * @param faults param → message, as the service says it: `redirect_uris.1` is the second line.
 */
export function faultsOf(faults: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [param, message] of faults) {
    const [, field = "", index] = /^(.*?)(?:\.(\d+))?$/.exec(param) ?? [];
    if (!fields.has(field)) continue;
    const words =
      index !== undefined && lists.has(field) ? message.replace(`\`${param}\``, `Line ${Number(index) + 1}`) : message;
    found.set(field, [found.get(field) ?? [], words].flat().join(" "));
  }
  return found;
}
