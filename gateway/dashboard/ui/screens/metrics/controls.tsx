/** What is asked of a metric: what to count, range, interval, zone, groups and filter. All of it is in the URL. */
import { useMemo, useState } from "react";
import type { Metric } from "#proto/daybook/metric/v1/metric_pb.ts";
import { DateRange } from "../../components/date-range.tsx";
import { Segments, Select } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { useProperty } from "../../data/viewer.ts";
import { zoneNames } from "../../data/zones.ts";
import { AddCondition } from "./add-condition.tsx";
import { type Condition, conditionsIn, conditionsMax, fieldsOf, readConditions, valueTitle } from "./condition.ts";
import { type ChangeSearch, type MetricSearch, rangeDefault } from "./metric-search.ts";
import { type IntervalChoice, intervals, type Measure, measures } from "./view.ts";

const nothing = "";

export function Controls({
  metric,
  search,
  interval,
  zone,
  onChange,
}: {
  metric: Metric;
  search: MetricSearch;
  interval: IntervalChoice;
  zone: string;
  onChange: ChangeSearch;
}): React.ReactNode {
  const { timezone } = useProperty();
  const fields = useMemo(() => fieldsOf(metric), [metric]);
  const zones = useMemo(() => zoneOptions(timezone, zone), [timezone, zone]);
  const { range = rangeDefault, show = "count", by = nothing, by2 = nothing } = search;
  return (
    <div className="metric-controls">
      <div className="metric-fields" role="group" aria-label="What is shown">
        <div className="field">
          <span aria-hidden="true">Show</span>
          <Segments
            label="Show"
            value={show}
            options={(Object.keys(measures) as Measure[]).map((value) => ({ value, title: measures[value].short }))}
            onChange={(value) => onChange({ show: value === "count" ? undefined : value })}
          />
        </div>
        <div className="field">
          <span aria-hidden="true">Range</span>
          <DateRange
            value={range}
            onChange={(value) => onChange({ range: value === rangeDefault ? undefined : value })}
          />
        </div>
        <Select
          label="Interval"
          value={interval}
          options={(Object.keys(intervals) as IntervalChoice[]).map((value) => ({
            value,
            title: intervals[value].title,
          }))}
          onChange={(value) => onChange({ interval: value })}
        />
        <Select
          label="Time zone"
          value={zone}
          options={zones}
          onChange={(value) => onChange({ zone: value === timezone ? undefined : value })}
        />
        <Select
          label="Group by"
          value={by}
          options={groupOptions(fields, by, by2)}
          onChange={(value) => onChange(value === nothing ? { by: by2 || undefined, by2: undefined } : { by: value })}
        />
        {by !== nothing && (
          <Select
            label="And by"
            value={by2}
            options={groupOptions(fields, by2, by)}
            onChange={(value) => onChange({ by2: value || undefined })}
          />
        )}
      </div>
      <Filter
        conditions={readConditions(search.where)}
        fields={fields}
        onChange={(next) => onChange({ where: conditionsIn(next) })}
      />
    </div>
  );
}

/** The zone of the property and the viewer's own first. */
function zoneOptions(property: string, chosen: string): readonly { value: string; title: string }[] {
  const own = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const all = new Set([property, own, chosen, ...zoneNames()].filter((name) => name !== ""));
  return [...all].map((value) => ({ value, title: value === property ? `${value} (property)` : value }));
}

/** The known fields but the other one that is grouped by; one of a link that is not known stays. */
function groupOptions(
  fields: ReturnType<typeof fieldsOf>,
  chosen: string,
  other: string,
): readonly { value: string; title: string }[] {
  const known = fields.filter(({ value }) => value !== other);
  const foreign = chosen === nothing || known.some(({ value }) => value === chosen);
  return [
    { value: nothing, title: "Nothing" },
    ...(foreign ? [] : [{ value: chosen, title: chosen }]),
    ...known.map(({ value, title }) => ({ value, title: shortTitle(title, fields) })),
  ];
}

/** Without the word that nearly all begin with, where no other field is called so. */
function shortTitle(title: string, fields: ReturnType<typeof fieldsOf>): string {
  const short = title.replace(/^properties\./, "");
  return fields.some((other) => other.title === short) ? title : short;
}

function Filter({
  conditions,
  fields,
  onChange,
}: {
  conditions: readonly Condition[];
  fields: ReturnType<typeof fieldsOf>;
  onChange: (next: readonly Condition[]) => void;
}): React.ReactNode {
  const [isAdding, setAdding] = useState(false);
  return (
    <div className="toolbar" role="group" aria-label="Filter">
      {conditions.map((condition, index) => (
        <span key={`${condition.field} ${condition.valueJson}`} className="condition">
          <span>
            <bdi>{condition.field}</bdi> <span className="muted">is</span> <bdi>{valueTitle(condition.valueJson)}</bdi>
          </span>
          <button
            type="button"
            className="icon-button"
            aria-label={`Take away: ${condition.field} is ${valueTitle(condition.valueJson)}`}
            onClick={() => onChange(conditions.filter((_, other) => other !== index))}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      {conditions.length < conditionsMax && (
        <button type="button" className="button small" onClick={() => setAdding(true)}>
          <Icon name="plus" />
          Add a condition
        </button>
      )}
      {isAdding && (
        <AddCondition
          fields={fields}
          others={conditions}
          onAdd={(condition) => {
            onChange([...conditions, condition]);
            setAdding(false);
          }}
          onClose={() => setAdding(false)}
        />
      )}
    </div>
  );
}
