/** The popover of date-range.tsx, open at first, with its button. */
import { useState } from "react";
import { Button, Dialog, DialogTrigger, Popover } from "react-aria-components";
import { customRange, presets, rangeAt, rangeTitle } from "../data/range.ts";
import type { DateRangeProps } from "./date-range-props.ts";
import { localText } from "../data/times.ts";
import { TextField } from "./field.tsx";
import { Icon } from "./icon.tsx";

export default function DateRangePopover({
  value,
  onChange,
  only = Object.keys(presets),
  allowsAny = false,
  label,
}: DateRangeProps): React.ReactNode {
  const [isOpen, setOpen] = useState(true);
  const choose = (next: string): void => {
    setOpen(false);
    onChange(next);
  };
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <Button className="button" aria-label={`${label ?? "Range"}: ${rangeTitle(value)}`}>
        <Icon name="calendar" />
        {label === undefined ? rangeTitle(value) : `${label}: ${rangeTitle(value)}`}
        <Icon name="chevron" />
      </Button>
      <Popover className="popover" placement="bottom end">
        <Dialog className="date-range" aria-label={label ?? "Range"}>
          <ul>
            {allowsAny && (
              <li>
                <button type="button" aria-pressed={value === ""} className="menu-item" onClick={() => choose("")}>
                  {rangeTitle("")}
                </button>
              </li>
            )}
            {Object.entries(presets)
              .filter(([id]) => only.includes(id))
              .map(([id, { title }]) => (
                <li key={id}>
                  <button type="button" aria-pressed={id === value} className="menu-item" onClick={() => choose(id)}>
                    {title}
                  </button>
                </li>
              ))}
          </ul>
          <Custom value={value} onChoose={choose} />
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}

function Custom({ value, onChoose }: { value: string; onChoose: (value: string) => void }): React.ReactNode {
  const [start] = useState(() => rangeAt(value, new Date()));
  const [from, setFrom] = useState(localText(start.from));
  const [to, setTo] = useState(localText(start.to));
  const range = { from: new Date(from), to: new Date(to) };
  const isValid = range.from.getTime() < range.to.getTime();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid) onChoose(customRange(range));
      }}
    >
      <TextField label="From" type="datetime-local" required value={from} onChange={setFrom} />
      <TextField
        label="To"
        type="datetime-local"
        required
        value={to}
        onChange={setTo}
        error={isValid ? undefined : "The end must be after the start."}
      />
      <p className="help">In your time zone: {new Intl.DateTimeFormat().resolvedOptions().timeZone}</p>
      <button type="submit" className="button primary" disabled={!isValid}>
        Apply
      </button>
    </form>
  );
}
