/** The filter of Events. */
import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { ComboBox } from "../../components/combo-box.tsx";
import { DateRange } from "../../components/date-range.tsx";
import { Select } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { Toolbar } from "../../components/page.tsx";
import { formatCompact } from "../../data/numbers.ts";
import { idOf } from "../../data/search.ts";
import { useMay, useProperty } from "../../data/viewer.ts";
import type { Filter } from "./filter.ts";

const suggestionsMax = 500;
const knownSources = ["api", "dashboard", "sdk", "system"];

export interface FilterState extends Filter {
  range?: string | undefined;
}

type Change = { [Name in keyof FilterState]: FilterState[Name] | undefined };

export function Filters({
  filter,
  isLive,
  onChange,
}: {
  filter: FilterState;
  /** Live begins now and is in the order of recording. */
  isLive: boolean;
  onChange: (change: Change) => void;
}): React.ReactNode {
  const { id: propertyId } = useProperty();
  const mayList = useMay("metrics:read");
  const { data } = useQuery(
    MetricService.method.listMetrics,
    { propertyId, limit: suggestionsMax },
    { enabled: mayList, staleTime: 60_000 },
  );
  const metrics = (data?.metrics ?? []).toSorted((one, other) => Number(other.eventCount - one.eventCount));
  const sources = [...new Set([...knownSources, ...metrics.flatMap(({ source }) => source ?? [])])].toSorted();
  const { type = "", profile = "", source = "", system, by, order, range } = filter;
  // Leaving a field changes nothing by itself.
  const change = (next: Change): void => {
    if (Object.entries(next).some(([name, value]) => filter[name as keyof Change] !== value)) onChange(next);
  };
  const isAny = [type, profile, source, system, range].every((value) => value === undefined || value === "");
  return (
    <Toolbar label="Filter">
      <div className="filter-field wide">
        <ComboBox
          label="Type"
          isLabelHidden
          allowsOther
          placeholder="Any type"
          value={type}
          options={metrics.map(({ name, eventCount }) => ({
            value: name,
            title: name,
            detail: formatCompact(eventCount),
          }))}
          onChange={(value) => change({ type: orNone(value) })}
        />
      </div>
      <ProfileField value={profile} onChange={(value) => change({ profile: value })} />
      <div className="filter-field">
        <ComboBox
          label="Source"
          isLabelHidden
          allowsOther
          placeholder="Any source"
          value={source}
          options={sources.map((value) => ({ value, title: value }))}
          onChange={(value) => change({ source: orNone(value) })}
        />
      </div>
      {!isLive && (
        <>
          <DateRange value={range ?? ""} allowsAny onChange={(value) => change({ range: orNone(value) })} />
          <div className="filter-field order">
            <Select
              label="Order"
              isLabelHidden
              value={`${by ?? "occurred"} ${order ?? "newest"}`}
              options={orders}
              onChange={(value) => {
                const [field, first] = value.split(" ");
                change({
                  by: field === "received" ? "received" : undefined,
                  order: first === "oldest" ? "oldest" : undefined,
                });
              }}
            />
          </div>
        </>
      )}
      <label className="check">
        <input
          type="checkbox"
          checked={system === "show"}
          onChange={({ target }) => change({ system: target.checked ? "show" : undefined })}
        />
        System events
      </label>
      {!isAny && (
        <button
          type="button"
          className="button quiet"
          onClick={() =>
            change({ type: undefined, profile: undefined, source: undefined, system: undefined, range: undefined })
          }
        >
          <Icon name="close" />
          Clear
        </button>
      )}
    </Toolbar>
  );
}

const orders = [
  { value: "occurred newest", title: "Occurred, newest first" },
  { value: "occurred oldest", title: "Occurred, oldest first" },
  { value: "received newest", title: "Received, newest first" },
  { value: "received oldest", title: "Received, oldest first" },
] as const;

const orNone = (text: string): string | undefined => (text.trim() === "" ? undefined : text.trim());
const profileId = idOf("prof");

/** Takes a whole id, on Enter or when it is left. */
function ProfileField({
  value,
  onChange,
}: {
  value: string;
  onChange: (value: string | undefined) => void;
}): React.ReactNode {
  const [typed, setTyped] = useState(value);
  const [before, setBefore] = useState(value);
  if (before !== value) {
    setBefore(value);
    setTyped(value);
  }
  const given = typed.trim();
  const isWrong = given !== "" && profileId(given) === undefined;
  const apply = (): void => {
    if (!isWrong && given !== value) onChange(orNone(given));
  };
  return (
    <form
      className="filter-field"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <input
        className="input search"
        aria-label="Profile"
        placeholder="Any profile: prof_…"
        autoComplete="off"
        spellCheck={false}
        maxLength={64}
        value={typed}
        title={isWrong ? "The whole id of a profile: prof_ and 26 characters" : undefined}
        {...(isWrong && { "aria-invalid": true })}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={apply}
      />
    </form>
  );
}
