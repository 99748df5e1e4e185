/** Counting of events where they are stored, by groups that no roll-up knows. */
import { plannedStatement, type Queryable } from "#shared/database/postgres.ts";
import type { EventField } from "#shared/values/event-field.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

/** A JSON scalar that a field equals; numbers as their text. */
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

/** A group in a bucket. Without any there is one row of nulls but for `scanned`. */
export interface AggregateRow {
  /** How many events were read, up to one more than allowed. */
  scanned: number;
  bucket: number | null;
  /** JSON texts, cut off after so many characters. */
  values: (string | null)[];
  count: number;
  sum: string | null;
  /** 16 bytes each. */
  profiles: Buffer | null;
}

/** A text as long as this was cut off. */
export const groupTextLengthMax = 1_001;
/** There are more groups when there are as many rows as this. */
export const groupRowsMax = 10_001;

/**
 * Reads at most `eventsMax` events and one, takes from each what is needed, and counts them. The limit stands before the conditions, as it
 * limits what is read. Planned anew each time: there are many forms.
 */
export function aggregateEvents(database: Queryable, values: AggregateValues): Promise<AggregateRow[]> {
  const { property, type, bucketStarts, to, groupBy, conditions } = values;
  const parameters: unknown[] = [property, type, bucketStarts[0], to, values.eventsMax + 1, bucketStarts];
  const add = (value: unknown): string => `$${parameters.push(value)}`;
  const groups = groupBy.map((field, index) => ({ name: `g${index}`, sql: groupText(field, add) }));
  const record = createRecord(add);
  const fulfils = conditions.map(({ field, value }) => `(${conditionText(field, value, record, add)})`);
  const names = groups.map(({ name }) => name);
  const text = `
    WITH scanned AS MATERIALIZED (
      SELECT ${["e.occurred_at", "e.value", "e.profile_id", ...groups.map(({ name, sql }) => `${sql} AS ${name}`)].join(", ")},
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
             ${values.withProfiles ? "string_agg(DISTINCT uuid_send(profile_id), ''::bytea)" : "NULL::bytea"} AS profiles
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

// What numeric holds; more digits than that are compared as they are written.
const numberPattern = "^-?[0-9.]{1,255}([eE][+-]?[0-9]{1,4})?$";

// Longer names are no columns of PostgreSQL, and neither is an empty one.
const columnBytesMax = 63;

/**
 * The keys of properties that conditions look at, as columns of json that are read in one pass: each `#>` would read the whole of an event's
 * properties again. A key without a value, or with null, is NULL.
 */
function createRecord(add: (value: unknown) => string) {
  const columns = new Set<string>();
  return {
    /** The value at a path as json. */
    valueAt([key = "", ...rest]: readonly string[]): string {
      if (key === "" || Buffer.byteLength(key) > columnBytesMax)
        return `(e.properties #> ${add([key, ...rest])}::text[])`;
      const column = `"${key.replaceAll('"', '""')}"`;
      columns.add(column);
      return rest.length === 0 ? `r.${column}` : `(r.${column} #> ${add(rest)}::text[])`;
    },
    /** To be joined with the events. */
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
