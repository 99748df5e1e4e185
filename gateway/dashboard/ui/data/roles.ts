/** Roles of members, in words. */
import { Role } from "#proto/daybook/identity/v1/members_pb.ts";
import type { Property } from "#proto/daybook/identity/v1/identity_pb.ts";

export const roleNames: Record<Role, string> = {
  [Role.UNSPECIFIED]: "none",
  [Role.ADMIN]: "admin",
  [Role.DEVELOPER]: "developer",
  [Role.SUPPORT]: "support",
  [Role.VIEWER]: "viewer",
};

/** Where a role holds. A property that the viewer does not see is named by its id. */
export function placeOf({ propertyId }: { propertyId?: string | undefined }, properties: readonly Property[]): string {
  if (propertyId === undefined) return "All properties";
  return properties.find(({ id }) => id === propertyId)?.name ?? propertyId;
}
