/** Fills tables for tests of query plans. */
import type pg from "pg";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

const rowsPerTable = 10_000;
/**
 * Fills the tables of a schema with rows of one property, from an instant on. Nullable columns are null, except the
 * profiles of events, and the secrets of endpoints.
 */
export async function fillTables(client: pg.Client, schema: string, property: Uuid, from: Instant): Promise<void> {
  const { rows } = await client.query<{ table_name: string; columns: { name: string; type: string }[] }>(
    `SELECT c.relname AS table_name,
            json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, NULL)) ORDER BY a.attnum) AS columns
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND c.relname <> 'migrations' AND (a.attnotnull OR a.attname = 'profile_id' OR c.relname = 'endpoints' AND a.attname = 'secret')
     GROUP BY c.oid ORDER BY EXISTS (SELECT FROM pg_constraint WHERE confrelid = c.oid) DESC`,
    [schema],
  );
  for (const { table_name: table, columns } of rows) {
    const values = columns.map(({ name, type }) => valueOf(table, name, type, property, from));
    await client.query(
      `INSERT INTO ${schema}.${table} (${columns.map(({ name }) => name).join(", ")})
       SELECT ${values.join(", ")} FROM generate_series(0, ${rowsPerTable - 1}) AS n ON CONFLICT DO NOTHING`,
    );
  }
}

const texts: Record<string, string> = {
  kind: "dedupe_id",
  mode: "live",
  name: "ordinary",
  status: "active",
  default_currency: "EUR",
  type: "public",
  "oauth_artifacts.kind": "access_token",
  "endpoints.status": "enabled",
  "deliveries.status": "delivered",
  "deliveries.trigger": "live",
  "replays.status": "complete",
  "privacy_requests.type": "erasure",
  "privacy_requests.status": "completed",
  step: "close",
};

function valueOf(table: string, column: string, type: string, property: Uuid, from: Instant): string {
  if (column === "property_id" || (table === "properties" && column === "id")) return `'${property}'`;
  if (type === "text") {
    const text = table === "metrics" ? undefined : (texts[`${table}.${column}`] ?? texts[column]);
    return text === undefined ? "'text ' || n" : `'${text}'`;
  }
  if (type === "uuid") return `('${property.slice(0, -6)}' || lpad(to_hex(n), 6, '0'))::uuid`;
  if (type === "timestamp with time zone") return `'${from}'::timestamptz + n * interval '1 minute'`;
  if (type === "bytea") return "sha256(n::text::bytea)";
  if (type === "boolean") return "false";
  if (type.startsWith("json")) return "'{}'";
  return type.endsWith("[]") ? "'{}'" : "n";
}
