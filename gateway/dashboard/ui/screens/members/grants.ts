/** Roles of a member as forms have them: at most one in a property, and one in all. */
import { Role, type RoleGrant } from "#proto/daybook/identity/v1/members_pb.ts";
import type { Property } from "#proto/daybook/identity/v1/identity_pb.ts";
import { placeOf, roleNames } from "../../data/roles.ts";

/** Without a property it holds in all. */
export interface Grant {
  propertyId?: string;
  role: Role;
}

export const givenRoles = [Role.ADMIN, Role.DEVELOPER, Role.SUPPORT, Role.VIEWER] as const;

export function toGrants(grants: readonly RoleGrant[]): Grant[] {
  return grants.map(({ propertyId, role }) => (propertyId === undefined ? { role } : { propertyId, role }));
}

export interface Change {
  place: string;
  before: string;
  after: string;
}

/** What is another role than before, or one more, or one less. */
export function changesOf(
  before: readonly Grant[],
  after: readonly Grant[],
  properties: readonly Property[],
): readonly Change[] {
  const ids = new Set([...before, ...after].map(({ propertyId }) => propertyId));
  const roleIn = (grants: readonly Grant[], id: string | undefined): string => {
    const found = grants.find(({ propertyId }) => propertyId === id);
    return (found && roleNames[found.role]) ?? "no role";
  };
  return [...ids].flatMap((propertyId) => {
    const change = {
      place: placeOf({ propertyId }, properties),
      before: roleIn(before, propertyId),
      after: roleIn(after, propertyId),
    };
    return change.before === change.after ? [] : [change];
  });
}

/** "admin in all properties", or "viewer in Shop and 2 more". */
export function grantsInShort(grants: readonly RoleGrant[], properties: readonly Property[]): string {
  const [first] = grants;
  if (!first) return "";
  const place = first.propertyId === undefined ? "all properties" : placeOf(first, properties);
  const rest = grants.length > 1 ? ` and ${grants.length - 1} more` : "";
  return `${roleNames[first.role]} in ${place}${rest}`;
}
