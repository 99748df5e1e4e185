/** Roles of members in messages and in rows. */
import { create } from "@bufbuild/protobuf";
import { Role, RoleGrantSchema, type RoleGrant } from "#proto/daybook/identity/v1/members_pb.ts";
import type { Queryable } from "#shared/database/postgres.ts";
import { checkFaults, DaybookError, type FieldError } from "#shared/values/errors.ts";
import { encodeId, tryDecodeId } from "#shared/values/ids.ts";
import { rightsOf, roleNames, type RoleName } from "../domain/roles.ts";
import type { GrantColumn } from "../sql/members.ts";
import { findProperties } from "../sql/properties.ts";

/** The most roles of a member. */
export const grantsMax = 500;

const roles: Readonly<Record<RoleName, Role>> = {
  admin: Role.ADMIN,
  developer: Role.DEVELOPER,
  support: Role.SUPPORT,
  viewer: Role.VIEWER,
};

/**
 * Reads roles, each in a property that there is.
 * @throws DaybookError with every one at fault.
 */
export async function readGrants(database: Queryable, inputs: readonly RoleGrant[]): Promise<GrantColumn[]> {
  if (inputs.length > grantsMax) {
    throw new DaybookError("too_many_items", `A member has at most ${grantsMax} roles.`, { param: "grants" });
  }
  const faults: FieldError[] = [];
  const grants = new Map<string | null, GrantColumn>();
  for (const [index, input] of inputs.entries()) {
    const param = `grants.${index}`;
    const role = roleNames.find((name) => roles[name] === input.role);
    const property = input.propertyId === undefined ? null : tryDecodeId("prop", input.propertyId);
    if (role === undefined) {
      const message = `\`${param}.role\` must be one of ${roleNames.join(", ")}.`;
      faults.push({ code: "parameter_invalid", message, param: `${param}.role` });
    } else if (property === undefined) {
      const message = `\`${param}.property_id\` must be the id of a property.`;
      faults.push({ code: "invalid_id", message, param: `${param}.property_id` });
    } else if (grants.has(property)) {
      const message = `\`${param}\` gives a second role in the same property. Send one.`;
      faults.push({ code: "parameter_conflict", message, param });
    } else {
      grants.set(property, { property_id: property, role });
    }
  }
  checkFaults(faults);
  const wanted = [...grants.keys()].filter((id) => id !== null) as NonNullable<GrantColumn["property_id"]>[];
  if (wanted.length > 0) {
    const found = new Set((await findProperties(database, [wanted])).map(({ id }) => id));
    if (wanted.some((id) => !found.has(id))) {
      throw new DaybookError("resource_not_found", "There is no such property.", { param: "grants" });
    }
  }
  return [...grants.values()];
}

export function toRoleGrant(grant: GrantColumn): RoleGrant {
  return create(RoleGrantSchema, {
    propertyId: grant.property_id === null ? undefined : encodeId("prop", grant.property_id),
    role: roles[grant.role],
    rights: [...rightsOf(grant)],
  });
}
