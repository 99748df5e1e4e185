/**
 * What each scope lets an app or a key do, in words: for the page that asks for consent, and for the dashboard. It
 * holds data only and imports nothing, so that the browser part of the dashboard can load it too.
 */

export interface ScopeInWords {
  scope: string;
  /** After "It may": a verb first, no full stop. */
  words: string;
  /** It shows data of single persons, or merges or erases them. */
  isPersonal: boolean;
}

const personal = (scope: string, words: string): ScopeInWords => ({ scope, words, isPersonal: true });
const other = (scope: string, words: string): ScopeInWords => ({ scope, words, isPersonal: false });

/** Every scope once, in the order to show them: personal data first. A test compares it with the vocabulary. */
export const scopesInWords: readonly ScopeInWords[] = [
  personal("identifiers:read_value", "Read emails, phone numbers and other identifiers of customers"),
  personal("profiles:read", "Read profiles of customers with their attributes, identifiers masked"),
  personal("events:read", "Read events: what each customer did, with all details"),
  personal("conversations:read", "Read conversations with customers"),
  personal("messages:read", "Read which messages customers got"),
  personal("consent:read", "Read what customers have consented to"),
  personal("consent:read_audit", "Export the evidence of consent"),
  personal("lists:read", "Read lists, and who is in them"),
  personal("segments:read", "Read segments, and who is in them"),
  personal("privacy:read", "Read privacy requests"),
  personal("privacy:export", "Export all that is known of a customer"),
  personal("privacy:delete", "Erase customers and redact their profiles, for good"),
  personal("profiles:merge", "Merge profiles, for good"),
  other("events:write", "Record events"),
  other("profiles:write", "Create and change profiles and their tags"),
  other("identifiers:write", "Add and remove identifiers of profiles"),
  other("metrics:read", "Read metrics: counts and sums over all customers"),
  other("metrics:write", "Register and describe metrics"),
  other(
    "accounts:read",
    "Read the settings of the property, its own access, and which event types and attributes there are",
  ),
  other("apps:read", "Read which apps are installed"),
  other("campaigns:read", "Read campaigns"),
  other("campaigns:write", "Write campaigns"),
  other("campaigns:send", "Schedule, send, test and cancel campaigns"),
  other("catalogs:read", "Read and export catalogs"),
  other("catalogs:write", "Change and import catalogs"),
  other("consent:write", "Record what customers consent to"),
  other("conversations:reply", "Reply in conversations that are under way"),
  other("flows:read", "Read flows"),
  other("flows:write", "Write drafts of flows"),
  other("flows:publish", "Publish and activate flows"),
  other("flows:trigger", "Trigger flows"),
  other("keywords:read", "Read keywords"),
  other("keywords:write", "Change keywords"),
  other("lists:write", "Change lists, and who is in them"),
  other("messages:send_marketing", "Send marketing messages to customers who consented to them"),
  other("messages:send_transactional", "Send messages from approved transactional templates"),
  other("offers:read", "Read offers and their codes"),
  other("offers:write", "Change offers and their codes"),
  other("offers:grant", "Grant offers to customers"),
  other("reports:read", "Read reports"),
  other("reports:write", "Create reports"),
  other("segments:write", "Write segments"),
];

/** Some scopes in words, personal data first. One that is not known here goes by its own name. */
export function inWords(scopes: readonly string[]): ScopeInWords[] {
  const wanted = new Set(scopes);
  const known = scopesInWords.filter(({ scope }) => wanted.delete(scope));
  return [...[...wanted].map((scope) => personal(scope, scope)), ...known];
}
