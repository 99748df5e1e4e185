/** The fields of an endpoint, and what is wrong with them. */
import { useState } from "react";
import { TextArea, TextField } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { useRights } from "../../data/viewer.ts";
import { type Draft, type HeaderDraft, hasEvents, rateFault } from "./draft.ts";
import { allTypes, mayChoose, messageTypes } from "./types.ts";

const headersMax = 10;

interface Props {
  draft: Draft;
  /** What is wrong with a field, or with one of its items. */
  faultOf: (field: string) => string | undefined;
  onChange: (draft: Draft) => void;
}

export function EndpointFields({ draft, faultOf, onChange }: Props): React.ReactNode {
  return (
    <>
      <TextField
        label="URL"
        help="https, on the public internet. Each message is a POST with a signature."
        type="url"
        placeholder="https://"
        required
        maxLength={2048}
        autoComplete="off"
        spellCheck={false}
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- a dialog has its focus in itself
        autoFocus
        value={draft.url}
        onChange={(url) => onChange({ ...draft, url })}
        error={faultOf("url")}
      />
      <TextField
        label="Description"
        help="Whose it is, such as Warehouse."
        maxLength={255}
        value={draft.description}
        onChange={(description) => onChange({ ...draft, description })}
        error={faultOf("description")}
      />
      <Types draft={draft} error={faultOf("types")} onChange={onChange} />
      {hasEvents(draft) && <EventFilter draft={draft} faultOf={faultOf} onChange={onChange} />}
      <Headers draft={draft} error={faultOf("headers")} onChange={onChange} />
      <TextField
        label="At most so many a second"
        help="Empty for no limit. Others wait their turn."
        inputMode="numeric"
        maxLength={6}
        autoComplete="off"
        value={draft.rateLimit}
        onChange={(rateLimit) => onChange({ ...draft, rateLimit })}
        error={rateFault(draft) ?? faultOf("rate_limit_per_second")}
      />
    </>
  );
}

function Types({
  draft,
  error,
  onChange,
}: {
  draft: Draft;
  error: string | undefined;
  onChange: (draft: Draft) => void;
}): React.ReactNode {
  const rights = useRights();
  const mayAll = mayChoose(allTypes, rights);
  const offered = messageTypes.filter(({ type }) => draft.types.has(type) || mayChoose(type, rights));
  const left = messageTypes.length - offered.length;
  return (
    <fieldset aria-describedby={error === undefined ? undefined : "types-error"}>
      <legend>What it is told</legend>
      {(mayAll || draft.isAll) && (
        <label className="choice">
          <input
            type="checkbox"
            checked={draft.isAll}
            onChange={({ target }) => onChange({ ...draft, isAll: target.checked })}
          />
          <span>Everything, also types that are added later</span>
        </label>
      )}
      {!draft.isAll && (
        <div className="scopes" role="group" aria-label="Types">
          {offered.map(({ type, words }) => (
            <label key={type} className="choice">
              <input
                type="checkbox"
                checked={draft.types.has(type)}
                onChange={({ target }) => {
                  const one = new Set([type]);
                  onChange({ ...draft, types: target.checked ? draft.types.union(one) : draft.types.difference(one) });
                }}
              />
              <span>
                {words}
                <code className="help">{type}</code>
              </span>
            </label>
          ))}
        </div>
      )}
      {left > 0 && (
        <p className="help">
          An endpoint is told what you may read yourself, so {left === 1 ? "one type is" : `${left} types are`} not
          offered.
        </p>
      )}
      {error !== undefined && (
        <p id="types-error" className="field-error" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}

function EventFilter({ draft, faultOf, onChange }: Props): React.ReactNode {
  const [isOpen, setOpen] = useState(draft.eventTypes !== "" || draft.sources !== "");
  return (
    <details className="disclosure" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Only some events</summary>
      <div className="stack">
        <TextArea
          label="Types of events"
          help="One a line, at most 50; order.* stands for all that begin so. Empty for all."
          rows={2}
          spellCheck={false}
          autoComplete="off"
          placeholder="order.completed"
          value={draft.eventTypes}
          onChange={(eventTypes) => onChange({ ...draft, eventTypes })}
          error={faultOf("filter.event_types") ?? faultOf("filter")}
        />
        <TextArea
          label="Sources"
          help="One a line, at most 20. Empty for all."
          rows={2}
          spellCheck={false}
          autoComplete="off"
          placeholder="api"
          value={draft.sources}
          onChange={(sources) => onChange({ ...draft, sources })}
          error={faultOf("filter.sources")}
        />
      </div>
    </details>
  );
}

function Headers({
  draft: { headers, ...draft },
  error,
  onChange,
}: {
  draft: Draft;
  error: string | undefined;
  onChange: (draft: Draft) => void;
}): React.ReactNode {
  const replace = (at: number, header: HeaderDraft): void => onChange({ ...draft, headers: headers.with(at, header) });
  const next = Math.max(-1, ...headers.map(({ row }) => row)) + 1;
  return (
    <fieldset className="headers">
      <legend>Headers of your own</legend>
      <p className="help">They go with every message. Values are kept sealed and never shown again.</p>
      {headers.map((header, at) => (
        <div key={header.row} className="header-row">
          <TextField
            label="Name"
            isLabelHidden={at > 0}
            readOnly={header.isKept}
            maxLength={255}
            autoComplete="off"
            spellCheck={false}
            value={header.name}
            onChange={(name) => replace(at, { ...header, name })}
          />
          <TextField
            label="Value"
            isLabelHidden={at > 0}
            placeholder={header.isKept ? "Kept as it is" : ""}
            maxLength={1024}
            autoComplete="off"
            spellCheck={false}
            value={header.value}
            onChange={(value) => replace(at, { ...header, value })}
          />
          <button
            type="button"
            className="icon-button"
            aria-label={`Remove the header ${header.name}`}
            onClick={() => onChange({ ...draft, headers: headers.toSpliced(at, 1) })}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      {headers.length < headersMax && (
        <button
          type="button"
          className="button small"
          onClick={() =>
            onChange({ ...draft, headers: [...headers, { row: next, name: "", value: "", isKept: false }] })
          }
        >
          <Icon name="plus" />
          Add a header
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
