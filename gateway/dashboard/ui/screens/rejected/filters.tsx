/** The filter of Rejected writes. What a group or a link has chosen stands as words that can be taken away. */
import { useState } from "react";
import { DateRange } from "../../components/date-range.tsx";
import { Segments } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { Toolbar } from "../../components/page.tsx";
import { choices, defaultRange, type Filter } from "./filter.ts";

const names = Object.keys(choices) as (keyof typeof choices)[];

export function Filters({
  filter,
  areWrites,
  onChange,
}: {
  filter: Filter;
  /** Single writes, which are found by a request or reference too. */
  areWrites: boolean;
  onChange: (change: Filter) => void;
}): React.ReactNode {
  const chosen = names.filter((name) => filter[name] !== undefined);
  return (
    <>
      <Toolbar label="Filter">
        <Segments
          label="How bad"
          value={filter.severity ?? "all"}
          options={[
            { value: "all", title: "All" },
            { value: "error", title: "Errors" },
            { value: "warning", title: "Warnings" },
          ]}
          onChange={(value) => onChange({ severity: value === "all" ? undefined : value })}
        />
        <DateRange
          value={filter.range ?? defaultRange}
          only={["1h", "24h", "7d", "30d", "90d"]}
          onChange={(value) => onChange({ range: value === defaultRange ? undefined : value })}
        />
        {areWrites && <FindWrite onChange={onChange} />}
      </Toolbar>
      {chosen.length > 0 && (
        <ul className="chosen" aria-label="Only those with">
          {chosen.map((name) => (
            <li key={name}>
              <button type="button" className="button small" onClick={() => onChange({ [name]: undefined })}>
                <span className="muted">{choices[name]}</span> <span className="clamp">{filter[name]}</span>
                <Icon name="close" />
                <span className="hidden">Take away</span>
              </button>
            </li>
          ))}
          {chosen.length > 1 && (
            <li>
              <button
                type="button"
                className="button small quiet"
                onClick={() => onChange(Object.fromEntries(chosen.map((name) => [name, undefined])))}
              >
                Clear all
              </button>
            </li>
          )}
        </ul>
      )}
    </>
  );
}

const requestForm = /^req_[0-9a-z]{26}$/;

/** By the request id that a client has logged, or its own reference. Applies when it is sent. */
function FindWrite({ onChange }: { onChange: (change: Filter) => void }): React.ReactNode {
  const [text, setText] = useState("");
  return (
    <form
      className="find-write"
      onSubmit={(event) => {
        event.preventDefault();
        const given = text.trim();
        if (given === "") return;
        onChange(requestForm.test(given) ? { request: given } : { reference: given });
        setText("");
      }}
    >
      <input
        className="input search"
        type="search"
        aria-label="Request id or client reference"
        placeholder="Request id or reference"
        maxLength={255}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <button type="submit" className="button">
        Find
      </button>
    </form>
  );
}
