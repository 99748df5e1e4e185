/** Fields of forms, with their errors. */
import { useId } from "react";
import { failureOf } from "../data/failures.ts";
import { Icon } from "./icon.tsx";

interface Common {
  label: string;
  /** Under the field. */
  help?: React.ReactNode;
  /** What is wrong with it. */
  error?: string | undefined;
}

function Field({
  label,
  help,
  error,
  isLabelHidden = false,
  children,
}: Common & {
  isLabelHidden?: boolean;
  children: (attributes: { id: string; "aria-describedby"?: string; "aria-invalid"?: true }) => React.ReactNode;
}): React.ReactNode {
  const id = useId();
  const described = [help === undefined ? [] : `${id}-help`, error === undefined ? [] : `${id}-error`].flat().join(" ");
  return (
    <div className="field">
      <label htmlFor={id} className={isLabelHidden ? "hidden" : undefined}>
        {label}
      </label>
      {children({
        id,
        ...(described !== "" && { "aria-describedby": described }),
        ...(error !== undefined && { "aria-invalid": true }),
      })}
      {help !== undefined && (
        <p id={`${id}-help`} className="help">
          {help}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className="field-error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

export function TextField({
  label,
  help,
  error,
  isLabelHidden = false,
  onChange,
  ...input
}: Common & { isLabelHidden?: boolean; value: string; onChange: (value: string) => void } & Omit<
    React.ComponentProps<"input">,
    "onChange" | "value" | "id"
  >): React.ReactNode {
  return (
    <Field label={label} help={help} error={error} isLabelHidden={isLabelHidden}>
      {(attributes) => (
        <input {...input} {...attributes} className="input" onChange={(event) => onChange(event.target.value)} />
      )}
    </Field>
  );
}

/** Text of several lines. */
export function TextArea({
  label,
  help,
  error,
  onChange,
  ...area
}: Common & { value: string; onChange: (value: string) => void } & Omit<
    React.ComponentProps<"textarea">,
    "onChange" | "value" | "id"
  >): React.ReactNode {
  return (
    <Field label={label} help={help} error={error}>
      {(attributes) => (
        <textarea {...area} {...attributes} className="input" onChange={(event) => onChange(event.target.value)} />
      )}
    </Field>
  );
}

/** One of a few. The system's own list: it works on every screen and keyboard. */
export function Select<T extends string>({
  label,
  help,
  error,
  value,
  options,
  isLabelHidden = false,
  onChange,
}: Common & {
  isLabelHidden?: boolean;
  value: T;
  options: readonly { value: T; title: string }[];
  onChange: (value: T) => void;
}): React.ReactNode {
  return (
    <Field label={label} help={help} error={error} isLabelHidden={isLabelHidden}>
      {(attributes) => (
        <span className="select">
          <select
            {...attributes}
            className="input"
            value={value}
            onChange={(event) => {
              const chosen = options.find((option) => option.value === event.target.value);
              if (chosen) onChange(chosen.value);
            }}
          >
            {options.map((option) => (
              <option key={option.value} value={option.value}>
                {option.title}
              </option>
            ))}
          </select>
          <Icon name="chevron" />
        </span>
      )}
    </Field>
  );
}

/** Of a filter: searched by `/`. Reads as it is typed; the screen waits before it asks. */
export function SearchField({
  label,
  value,
  placeholder,
  onChange,
}: {
  label: string;
  value: string;
  placeholder?: string;
  onChange: (value: string) => void;
}): React.ReactNode {
  return (
    <input
      className="input search"
      type="search"
      aria-label={label}
      placeholder={placeholder}
      autoComplete="off"
      spellCheck={false}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** What went wrong with a form as a whole. Faults of single fields stand at the fields. */
export function InlineError({ error }: { error: unknown }): React.ReactNode {
  if (error === undefined || error === null) return null;
  const { title, advice, requestId } = failureOf(error);
  return (
    <div className="inline-error" role="alert">
      <strong>{title}.</strong> {advice}
      {requestId !== undefined && <span className="muted"> Request {requestId}</span>}
    </div>
  );
}

/** One of two to five, all in sight. */
export function Segments<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: T;
  options: readonly { value: T; title: string }[];
  onChange: (value: T) => void;
}): React.ReactNode {
  const name = useId();
  return (
    <fieldset className="segments">
      <legend className="hidden">{label}</legend>
      {options.map((option) => (
        <label key={option.value}>
          <input type="radio" name={name} checked={option.value === value} onChange={() => onChange(option.value)} />
          <span>{option.title}</span>
        </label>
      ))}
    </fieldset>
  );
}
