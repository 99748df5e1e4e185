/** The vocabulary of scopes. Those without an operation here are valid on a key, and inert. */
export const scopes = [
  "accounts:read",
  "apps:read",
  "campaigns:read",
  "campaigns:send",
  "campaigns:write",
  "catalogs:read",
  "catalogs:write",
  "consent:read",
  "consent:read_audit",
  "consent:write",
  "conversations:read",
  "conversations:reply",
  "events:read",
  "events:write",
  "flows:publish",
  "flows:read",
  "flows:trigger",
  "flows:write",
  "identifiers:read_value",
  "identifiers:write",
  "keywords:read",
  "keywords:write",
  "lists:read",
  "lists:write",
  "messages:read",
  "messages:send_marketing",
  "messages:send_transactional",
  "metrics:read",
  "metrics:write",
  "offers:grant",
  "offers:read",
  "offers:write",
  "privacy:delete",
  "privacy:export",
  "privacy:read",
  "profiles:merge",
  "profiles:read",
  "profiles:write",
  "reports:read",
  "reports:write",
  "segments:read",
  "segments:write",
] as const;

const known: ReadonlySet<string> = new Set(scopes);

/** Whether the vocabulary has this scope. */
export function isScope(text: string): boolean {
  return known.has(text);
}
