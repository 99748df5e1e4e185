/** Counts stored events by groups that no roll-up has. */
import { plannedStatement, type Queryable } from "#shared/database/postgres.ts";
import type { EventField } from "#shared/values/event-field.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

/** A JSON scalar that a field equals; a number as its text. */
export type ConditionValue = { string: string } | { number: string } | boolean | null;

/** What to count. */
export interface AggregateValues {
  property: Uuid;
  type: string;
  /** Instants, in order. */
  bucketStarts: readonly Instant[];
  to: Instant;
  groupBy: readonly EventField[];
  conditions: readonly { field: EventField; value: ConditionValue }[];
  withProfiles: boolean;
  eventsMax: number;
}

/** A group in a bucket. Without groups there is one row, in which only `scanned` is not null. */
export interface AggregateRow {
  /** Number of events read, at most `eventsMax` + 1. */
  scanned: number;
  bucket: number | null;
  /** JSON texts, truncated to `groupTextLengthMax` characters. */
  values: (string | null)[];
  count: number;
  sum: string | null;
  /** 16 bytes each. */
  profiles: Buffer | null;
}

/** A text of this length may be truncated. */
export const groupTextLengthMax = 1_001;
/** This many rows mean too many groups. */
export const groupRowsMax = 10_001;

/**
 * Reads at most `eventsMax` + 1 events and counts them. The limit is applied before the conditions, because it limits
 * what is read. The statement is planned for each call, because it has many forms.
 */
export function aggregateEvents(database: Queryable, values: AggregateValues): Promise<AggregateRow[]> {
  const { property, type, bucketStarts, to, groupBy, conditions } = values;
  const parameters: unknown[] = [property, type, bucketStarts[0], to, values.eventsMax + 1, bucketStarts];
  const add = (value: unknown): string => `$${parameters.push(value)}`;
  const groups = groupBy.map((field, index) => ({ name: `g${index}`, sql: groupText(field, add) }));
  const record = createRecord(add);
  const fulfils = conditions.map(({ field, value }) => `(${conditionText(field, value, record, add)})`);
  const names = groups.map(({ name }) => name);
  const scannedColumns = [
    "e.occurred_at",
    "e.value",
    "e.profile_id",
    ...groups.map(({ name, sql }) => `${sql} AS ${name}`),
  ];
  const profiles = values.withProfiles ? "string_agg(DISTINCT uuid_send(profile_id), ''::bytea)" : "NULL::bytea";
  const text = `
    WITH scanned AS MATERIALIZED (
      SELECT ${scannedColumns.join(", ")},
             ${fulfils.length > 0 ? fulfils.join(" AND ") : "true"} AS fulfils
      FROM event.events e ${record.join()}
      WHERE e.property_id = $1 AND e.type = $2 AND e.occurred_at >= $3 AND e.occurred_at < $4 AND e.occurred_at > '-infinity'
      LIMIT $5
    )
    SELECT (SELECT count(*) FROM scanned) AS scanned, counted.*
    FROM (SELECT) AS always
    LEFT JOIN (
      SELECT width_bucket(occurred_at, $6::timestamptz[]) - 1 AS bucket, ARRAY[${names.join(", ")}]::text[] AS values,
             count(*) AS count, sum(value) AS sum,
             ${profiles} AS profiles
      FROM scanned WHERE fulfils
      GROUP BY ${["1", ...names].join(", ")}
      LIMIT ${groupRowsMax}
    ) counted ON true`;
  return plannedStatement<readonly unknown[], AggregateRow>(text)(database, parameters);
}

function groupText(field: EventField, add: (value: unknown) => string): string {
  if (typeof field === "string") return `to_json(e.${field})::text`;
  return `left((e.properties #> ${add(field.path)}::text[])::text, ${groupTextLengthMax})`;
}

// Numbers that fit into numeric. Others are compared as text.
const numberPattern = "^-?[0-9.]{1,255}([eE][+-]?[0-9]{1,4})?$";

// PostgreSQL's limit for the name of a column, which cannot be empty either.
const columnBytesMax = 63;

/**
 * The property keys that conditions use, as json columns that are read in one pass, because each `#>` would parse all
 * properties of an event again. A key that is missing or null is NULL.
 */
function createRecord(add: (value: unknown) => string) {
  const columns = new Set<string>();
  return {
    /** SQL of the value at a path, as json. */
    valueAt([key = "", ...rest]: readonly string[]): string {
      if (key === "" || Buffer.byteLength(key) > columnBytesMax)
        return `(e.properties #> ${add([key, ...rest])}::text[])`;
      const column = `"${key.replaceAll('"', '""')}"`;
      columns.add(column);
      return rest.length === 0 ? `r.${column}` : `(r.${column} #> ${add(rest)}::text[])`;
    },
    /** SQL that joins the columns to the events. */
    join(): string {
      if (columns.size === 0) return "";
      const list = [...columns].map((column) => `${column} json`).join(", ");
      return `CROSS JOIN LATERAL json_to_record(e.properties) AS r (${list})`;
    },
  };
}

function conditionText(
  field: EventField,
  value: ConditionValue,
  record: ReturnType<typeof createRecord>,
  add: (value: unknown) => string,
): string {
  if (typeof field === "string") {
    if (value === null) return `e.${field} IS NULL`;
    return typeof value === "object" && "string" in value ? `e.${field} = ${add(value.string)}` : "false";
  }
  const found = record.valueAt(field.path);
  if (value === null) return `coalesce(${found}::text, 'null') = 'null'`;
  if (typeof value === "boolean") return `${found}::text = '${value}'`;
  if ("string" in value) return `json_typeof(${found}) = 'string' AND ${found} #>> '{}' = ${add(value.string)}`;
  const number = add(value.number);
  return `CASE WHEN json_typeof(${found}) <> 'number' THEN false
               WHEN ${found}::text ~ '${numberPattern}' AND ${number}::text ~ '${numberPattern}' THEN ${found}::text::numeric = ${number}::text::numeric
               ELSE ${found}::text = ${number}::text END`;
}
