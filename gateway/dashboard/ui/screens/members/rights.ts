/**
 * What each role may do, in words. The identity service decides; a test compares this table with its own. It holds data
 * only, so that tests can load it outside a browser.
 */

export const roleWords = {
  admin: "Everything, members and operation among it.",
  developer:
    "Sees events, metrics and profiles, identifiers masked, and imports. Manages keys, webhooks, apps and metrics.",
  support:
    "Sees events, metrics and profiles, and reveals identifiers. Changes, merges and redacts profiles, and answers " +
    "privacy requests.",
  viewer: "Sees events, metrics and profiles, identifiers masked. Changes nothing.",
} as const;

export type RoleName = keyof typeof roleWords;

interface Right {
  id: string;
  words: string;
  /** Beside admins, who have all. */
  roles: readonly Exclude<RoleName, "admin">[];
  /** About the installation: only a role in all properties gives it. */
  isEverywhere?: true;
}

export const rights: readonly Right[] = [
  { id: "accounts:read", words: "See the property and its settings", roles: ["viewer", "developer", "support"] },
  { id: "events:read", words: "See events and their properties", roles: ["viewer", "developer", "support"] },
  { id: "metrics:read", words: "See metrics and charts", roles: ["viewer", "developer", "support"] },
  { id: "profiles:read", words: "See profiles, masked", roles: ["viewer", "developer", "support"] },
  { id: "schemas:read", words: "See event types and attributes", roles: ["viewer", "developer", "support"] },
  { id: "keys:manage", words: "Make, rotate and revoke keys", roles: ["developer"] },
  { id: "metrics:write", words: "Register and describe metrics", roles: ["developer"] },
  { id: "imports:read", words: "See imports and jobs with their failed items", roles: ["developer"] },
  { id: "rejected_writes:read", words: "See writes that were refused", roles: ["developer"] },
  { id: "webhooks:manage", words: "Make and change webhooks, resend deliveries", roles: ["developer"] },
  { id: "apps:read", words: "See apps and installations", roles: ["developer"] },
  {
    id: "apps:manage",
    words: "Install and uninstall apps; with a role in all properties, make and change them",
    roles: ["developer"],
  },
  { id: "identifiers:read_value", words: "Reveal emails, phones and other identifiers", roles: ["support"] },
  { id: "identifiers:write", words: "Add and remove identifiers", roles: ["support"] },
  { id: "profiles:write", words: "Change attributes and tags", roles: ["support"] },
  { id: "profiles:merge", words: "Merge profiles", roles: ["support"] },
  { id: "profiles:redact", words: "Redact profiles", roles: ["support"] },
  { id: "privacy:read", words: "See privacy requests", roles: ["support"] },
  { id: "privacy:export", words: "Export what is known of a person", roles: ["support"] },
  { id: "privacy:delete", words: "Erase a person", roles: ["support"] },
  { id: "audit:read", words: "See who did what", roles: [] },
  { id: "properties:manage", words: "Change the property", roles: [] },
  { id: "members:manage", words: "Invite, change and remove members", roles: [], isEverywhere: true },
  { id: "operate", words: "See the health of processes, give dead letters back", roles: [], isEverywhere: true },
];
