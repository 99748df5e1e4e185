/** What a new key may do: presets for the usual programs, and all scopes in words. */
import { inWords } from "../../../../oauth/scope-words.ts";

export interface Scope {
  id: string;
  title: string;
  /** Shows personal data or destroys it: only who may do so herself gives it to a key. */
  isGuarded?: true;
}

/** Scopes that have an endpoint. A key with all scopes has the others too. */
const withEndpoint = [
  "events:write",
  "events:read",
  "profiles:write",
  "profiles:read",
  "identifiers:read_value",
  "identifiers:write",
  "profiles:merge",
  "privacy:delete",
  "metrics:read",
  "metrics:write",
  "accounts:read",
];
const guarded: ReadonlySet<string> = new Set(["identifiers:read_value", "profiles:merge", "privacy:delete"]);

const scopes: readonly Scope[] = withEndpoint.flatMap((id) =>
  inWords([id]).map(({ words }) => ({ id, title: words, ...(guarded.has(id) && { isGuarded: true }) })),
);

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
