/** Adds a condition to the filter: a field, and the value that it equals. */
import { useState } from "react";
import { ValueType } from "#proto/daybook/metric/v1/metric_pb.ts";
import { ComboBox } from "../../components/combo-box.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Select, TextField } from "../../components/field.tsx";
import { type Condition, type FieldOption, fits, isField } from "./condition.ts";

const kinds = [
  { value: "text", title: "Text" },
  { value: "number", title: "Number" },
  { value: "true", title: "True" },
  { value: "false", title: "False" },
  { value: "null", title: "None" },
] as const;

type Kind = (typeof kinds)[number]["value"];

/** For a field with one type; one with more says nothing. */
const kindOf: Partial<Record<ValueType, Kind>> = {
  [ValueType.STRING]: "text",
  [ValueType.TIMESTAMP]: "text",
  [ValueType.NUMBER]: "number",
  [ValueType.BOOLEAN]: "true",
};

/** What was given, as JSON text; undefined when it is none. */
function jsonOf(kind: Kind, given: string): string | undefined {
  if (kind === "text") return JSON.stringify(given);
  if (kind !== "number") return kind;
  const text = given.trim();
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? text : undefined;
}

export function AddCondition({
  fields,
  others,
  onAdd,
  onClose,
}: {
  fields: readonly FieldOption[];
  others: readonly Condition[];
  onAdd: (condition: Condition) => void;
  onClose: () => void;
}): React.ReactNode {
  const [field, setField] = useState("");
  const [kind, setKind] = useState<Kind>("text");
  const [given, setGiven] = useState("");
  const [fault, setFault] = useState<{ field?: string; value?: string }>({});
  const hasValue = kind === "text" || kind === "number";
  const choose = (next: string): void => {
    if (next === field) return;
    setField(next);
    const type = fields.find(({ value, title }) => value === next || title === next)?.type;
    const known = type === undefined ? undefined : kindOf[type];
    if (known) setKind(known);
  };
  const add = (): void => {
    const wanted = fields.find(({ value, title }) => value === field || title === field)?.value ?? field;
    const valueJson = jsonOf(kind, given);
    if (!isField(wanted)) setFault({ field: "Choose a field of the list, or type properties. and a path." });
    else if (valueJson === undefined) setFault({ value: "Give a number such as 49.9, without separators." });
    else if (!fits([...others, { field: wanted, valueJson }]))
      setFault({ value: "The filter is too long for a link." });
    else onAdd({ field: wanted, valueJson });
  };
  return (
    <Dialog title="Add a condition" onClose={onClose} isSticky>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        <ComboBox
          label="Field"
          placeholder="source, currency, or properties.…"
          value={field}
          options={fields.map(({ value, title }) => ({ value, title }))}
          allowsOther
          onChange={choose}
        />
        {fault.field !== undefined && (
          <p className="field-error" role="alert">
            {fault.field}
          </p>
        )}
        <Select label="Is" value={kind} options={kinds} onChange={setKind} />
        {hasValue && (
          <TextField
            label="Value"
            help={kind === "text" ? "Equal in every letter." : "As JSON writes it."}
            maxLength={255}
            value={given}
            onChange={setGiven}
            error={fault.value}
          />
        )}
        {!hasValue && fault.value !== undefined && (
          <p className="field-error" role="alert">
            {fault.value}
          </p>
        )}
        <footer>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button primary">
            Add
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
