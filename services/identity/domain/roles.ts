/** Roles of members, and what each may do. This table is the only place that says it. */
import { scopes } from "./scopes.ts";

export const roleNames = ["admin", "developer", "support", "viewer"] as const;
export type RoleName = (typeof roleNames)[number];

type Scope = (typeof scopes)[number];

/** What the dashboard offers beyond the scopes of keys. */
export const dashboardRights = [
  "apps:manage",
  "audit:read",
  "imports:read",
  "keys:manage",
  "members:manage",
  "operate",
  "profiles:redact",
  "properties:manage",
  "rejected_writes:read",
  "schemas:read",
  "webhooks:manage",
] as const;

export type Right = Scope | (typeof dashboardRights)[number];

const viewer = ["accounts:read", "events:read", "metrics:read", "profiles:read", "schemas:read"] as const;

/** The rights of each role. Without `identifiers:read_value` the values of identifiers are masked. */
export const rightsOfRole: Readonly<Record<RoleName, readonly Right[]>> = {
  admin: [...scopes, ...dashboardRights].toSorted(),
  developer: [
    ...viewer,
    "apps:manage",
    "apps:read",
    "imports:read",
    "keys:manage",
    "metrics:write",
    "rejected_writes:read",
    "webhooks:manage",
  ].toSorted() as Right[],
  support: [
    ...viewer,
    "identifiers:read_value",
    "identifiers:write",
    "privacy:delete",
    "privacy:export",
    "privacy:read",
    "profiles:merge",
    "profiles:redact",
    "profiles:write",
  ].toSorted() as Right[],
  viewer,
};

/** Rights over the installation as a whole, which a role in one property does not give. */
export const installationRights: ReadonlySet<Right> = new Set(["members:manage", "operate"]);

/** A role in one property, or in all. */
export interface Grant<Id extends string = string> {
  /** Null: in all properties, also in those that are made later. */
  property_id: Id | null;
  role: RoleName;
}

/** What a grant allows. */
export function rightsOf({ property_id: property, role }: Grant): readonly Right[] {
  const rights = rightsOfRole[role];
  return property === null ? rights : rights.filter((right) => !installationRights.has(right));
}

/** Whether grants have a right over the installation. */
export function hasEverywhere(grants: readonly Grant[], right: Right): boolean {
  return grants.some((grant) => grant.property_id === null && rightsOf(grant).includes(right));
}

/** Whether two lists give the same. */
export function areSameGrants(some: readonly Grant[], others: readonly Grant[]): boolean {
  const textOf = (grants: readonly Grant[]): string =>
    JSON.stringify(grants.map(({ property_id: property, role }) => `${property} ${role}`).toSorted());
  return textOf(some) === textOf(others);
}
