/** The attributes of a profile, each with its exact JSON text. */
import { useMemo, useState } from "react";
import { type Profile, ProfileStatus } from "#proto/daybook/profile/v1/profile_pb.ts";
import { CopyButton } from "../../components/copy.tsx";
import { SearchField } from "../../components/field.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { Toolbar } from "../../components/page.tsx";
import { EmptyState } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { useMay } from "../../data/viewer.ts";
import { type Attribute, attributesOf } from "./attributes.ts";
import { EditAttribute } from "./edit-attribute.tsx";

const shownMax = 100;
const inLineMax = 160;

export function AttributesPanel({
  of: profile,
  revealed,
}: {
  of: Profile;
  /** With the attributes that hold values of identifiers, which are hidden else. */
  revealed?: Profile | undefined;
}): React.ReactNode {
  const mayWrite = useMay("profiles:write") && profile.status === ProfileStatus.ACTIVE;
  const [find, setFind] = useState("");
  const [shown, setShown] = useState(shownMax);
  const [edited, setEdited] = useState<Attribute | "new">();
  const json = (revealed ?? profile).attributesJson;
  const all = useMemo(() => attributesOf(json), [json]);
  const rows = all.filter(({ name }) => name.toLowerCase().includes(find.toLowerCase()));
  const columns: Column<Attribute>[] = [
    { id: "name", title: "Name", cell: ({ name }) => <bdi className="attribute-name">{name}</bdi> },
    { id: "value", title: "Value", cell: (attribute) => <Value of={attribute} /> },
    ...(mayWrite
      ? [
          {
            id: "edit",
            title: "Change",
            align: "end" as const,
            cell: (attribute: Attribute) => (
              <button
                type="button"
                className="button small"
                aria-label={`Edit ${attribute.name}`}
                onClick={() => setEdited(attribute)}
              >
                Edit
              </button>
            ),
          },
        ]
      : []),
  ];
  return (
    <div className="section">
      <Toolbar label="Attributes">
        {all.length > 10 && (
          <SearchField label="Find an attribute" placeholder="Name" value={find} onChange={setFind} />
        )}
        {mayWrite && (
          <button type="button" className="button" onClick={() => setEdited("new")}>
            Add an attribute
          </button>
        )}
        {all.length > 0 && <CopyButton text={json} label="Copy all as JSON" />}
      </Toolbar>
      <Table
        label="Attributes"
        columns={columns}
        rows={rows.slice(0, shown)}
        keyOf={({ name }) => name}
        empty={
          <EmptyState title={all.length > 0 ? "No attribute has such a name" : "No attributes"} level={3}>
            <p>
              {all.length > 0
                ? "Clear the search to see the others."
                : "Programs write attributes with the profile, such as a name, a plan or a birthday."}
            </p>
          </EmptyState>
        }
      />
      {rows.length > shown && (
        <button type="button" className="button" onClick={() => setShown(shown + shownMax)}>
          Show {Math.min(shownMax, rows.length - shown)} more of {rows.length}
        </button>
      )}
      {edited !== undefined && (
        <EditAttribute
          of={profile}
          {...(edited !== "new" && { attribute: edited })}
          onClose={() => setEdited(undefined)}
        />
      )}
    </div>
  );
}

function Value({ of: { json, type, name } }: { of: Attribute }): React.ReactNode {
  const [isOpen, setOpen] = useState(false);
  if (isOpen) return <JsonView text={json} label={name} />;
  const isLong = json.length > inLineMax;
  return (
    <span className="attribute-value">
      <code className={`json-${type}`}>
        <bdi>{isLong ? `${json.slice(0, inLineMax)}…` : json}</bdi>
      </code>
      {(isLong || ((type === "object" || type === "array") && json.length > 2)) && (
        <button type="button" className="button small quiet" onClick={() => setOpen(true)}>
          {isLong ? `Show all ${json.length.toLocaleString()} characters` : "Open"}
        </button>
      )}
    </span>
  );
}
