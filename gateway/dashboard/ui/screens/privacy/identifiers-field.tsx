/** What a person is known by. The values are in the state of the form only. */
import { Select, TextField } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";

export interface IdentifierDraft {
  /** Of the row in the form. */
  row: number;
  type: string;
  value: string;
}

const identifiersMax = 20;

const known = [
  { value: "email", title: "email" },
  { value: "phone", title: "phone" },
  { value: "external_id", title: "external_id" },
  { value: "anonymous_id", title: "anonymous_id" },
] as const;

export function IdentifiersField({
  identifiers,
  error,
  onChange,
}: {
  identifiers: readonly IdentifierDraft[];
  error: string | undefined;
  onChange: (identifiers: readonly IdentifierDraft[]) => void;
}): React.ReactNode {
  const replace = (at: number, identifier: IdentifierDraft): void => onChange(identifiers.with(at, identifier));
  const next = Math.max(...identifiers.map(({ row }) => row)) + 1;
  return (
    <fieldset className="headers">
      <legend>Identifiers</legend>
      <p className="help">All that the person gave. Those that nobody has are no error: anonymous events count too.</p>
      {identifiers.map((identifier, at) => (
        <div key={identifier.row} className="header-row">
          <Select
            label="Type"
            isLabelHidden={at > 0}
            value={identifier.type}
            options={known}
            onChange={(type) => replace(at, { ...identifier, type })}
          />
          <TextField
            label="Value"
            isLabelHidden={at > 0}
            required
            maxLength={255}
            autoComplete="off"
            spellCheck={false}
            value={identifier.value}
            onChange={(value) => replace(at, { ...identifier, value })}
          />
          {identifiers.length > 1 ? (
            <button
              type="button"
              className="icon-button"
              aria-label={`Remove identifier ${at + 1}`}
              onClick={() => onChange(identifiers.toSpliced(at, 1))}
            >
              <Icon name="close" />
            </button>
          ) : (
            <span />
          )}
        </div>
      ))}
      {identifiers.length < identifiersMax && (
        <button
          type="button"
          className="button small"
          onClick={() => onChange([...identifiers, { row: next, type: "email", value: "" }])}
        >
          <Icon name="plus" />
          Add an identifier
        </button>
      )}
      {error !== undefined && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}
