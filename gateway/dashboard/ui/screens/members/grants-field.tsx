/** Gives roles: one row for each property, or one for all. */
import { Role } from "#proto/daybook/identity/v1/members_pb.ts";
import { Select } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { placeOf, roleNames } from "../../data/roles.ts";
import { titleOf, useProperty, useViewer } from "../../data/viewer.ts";
import { type Grant, givenRoles } from "./grants.ts";
import { type RoleName, roleWords } from "./rights.ts";

const everywhere = "all";
const roleOptions = givenRoles.map((role) => ({ value: String(role), title: roleNames[role] }));

export function GrantsField({
  grants,
  onChange,
}: {
  grants: readonly Grant[];
  onChange: (grants: readonly Grant[]) => void;
}): React.ReactNode {
  const { properties } = useViewer();
  const current = useProperty();
  const taken = new Set(grants.map(({ propertyId }) => propertyId));
  const free = properties.filter(({ id }) => !taken.has(id));
  const next = free.find(({ id }) => id === current.id) ?? free[0];
  const replace = (at: number, grant: Grant): void => onChange(grants.with(at, grant));
  return (
    <fieldset className="grants">
      <legend>Roles</legend>
      {grants.map((grant, at) => {
        const places = [
          { value: everywhere, title: "All properties", id: undefined },
          ...properties.map((property) => ({
            value: property.id,
            title: titleOf(property),
            id: property.id,
          })),
          ...(grant.propertyId !== undefined && !properties.some(({ id }) => id === grant.propertyId)
            ? [{ value: grant.propertyId, title: grant.propertyId, id: grant.propertyId }]
            : []),
        ].filter(({ id }) => id === grant.propertyId || !taken.has(id));
        return (
          <div key={grant.propertyId ?? everywhere} className="grant">
            <Select
              label="In"
              value={grant.propertyId ?? everywhere}
              options={places}
              onChange={(value) =>
                replace(at, { role: grant.role, ...(value !== everywhere && { propertyId: value }) })
              }
            />
            <Select
              label="Role"
              value={String(grant.role)}
              options={roleOptions}
              onChange={(value) => replace(at, { ...grant, role: Number(value) as Role })}
            />
            <button
              type="button"
              className="icon-button"
              aria-label={`Take the role in ${placeOf(grant, properties)} away`}
              onClick={() => onChange(grants.toSpliced(at, 1))}
            >
              <Icon name="close" />
            </button>
            <p className="help">{roleWords[roleNames[grant.role] as RoleName]}</p>
          </div>
        );
      })}
      {(next ?? !taken.has(undefined)) && (
        <button
          type="button"
          className="button small"
          onClick={() =>
            onChange([...grants, next ? { propertyId: next.id, role: Role.VIEWER } : { role: Role.VIEWER }])
          }
        >
          <Icon name="plus" />
          Add a role
        </button>
      )}
      {taken.has(undefined) && <p className="help">A role in all properties holds in those that are made later too.</p>}
    </fieldset>
  );
}
