/** What a new key may do: presets for the usual programs, and all scopes in words. */

export interface Scope {
  id: string;
  title: string;
  /** Shows personal data or destroys it: only who may do so herself gives it to a key. */
  isGuarded?: true;
}

/** Scopes that have an endpoint. A key with all scopes has the others too. */
const scopes: readonly Scope[] = [
  { id: "events:write", title: "Record events" },
  { id: "events:read", title: "Read events" },
  { id: "profiles:write", title: "Create and change profiles" },
  { id: "profiles:read", title: "Read profiles, identifiers masked" },
  { id: "identifiers:read_value", title: "Read the values of identifiers", isGuarded: true },
  { id: "identifiers:write", title: "Add and remove identifiers" },
  { id: "profiles:merge", title: "Merge profiles, for good", isGuarded: true },
  { id: "privacy:delete", title: "Redact profiles, for good", isGuarded: true },
  { id: "metrics:read", title: "Read metrics" },
  { id: "metrics:write", title: "Create and describe metrics" },
  { id: "accounts:read", title: "Read the property and the key itself" },
];

/** The scopes that a member with some rights may give. */
export function scopesFor(rights: ReadonlySet<string>): readonly Scope[] {
  return scopes.filter(({ id, isGuarded }) => !isGuarded || rights.has(id));
}

/** The presets that she may give. */
export function presetsFor(rights: ReadonlySet<string>): readonly Preset[] {
  const hasAll = scopesFor(rights).length === scopes.length;
  return (Object.keys(presets) as Preset[]).filter((preset) => preset !== "all" || hasAll);
}

export const presets = {
  record: {
    title: "Record",
    detail: "For a shop's server: sends events and profiles, reads nothing.",
    scopes: ["events:write", "profiles:write", "identifiers:write"],
  },
  read: {
    title: "Read",
    detail: "For reports: reads events, profiles with masked identifiers, and metrics.",
    scopes: ["accounts:read", "events:read", "profiles:read", "metrics:read"],
  },
  all: {
    title: "Everything",
    detail: "Every scope that there is, merges and redactions among them.",
    scopes: [],
  },
  custom: { title: "Single scopes", detail: "Choose each.", scopes: [] },
} as const satisfies Record<string, { title: string; detail: string; scopes: readonly string[] }>;

export type Preset = keyof typeof presets;
