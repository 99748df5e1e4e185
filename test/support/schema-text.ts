/** Describes the schema that migrations create. */
import type pg from "pg";

/** Columns, constraints and indexes of the tables of a schema, without those of partitions. */
export async function describeSchema(client: pg.Client | pg.Pool, schema: string): Promise<string> {
  const { rows } = await client.query<{ heading: string; lines: string[] }>(
    `SELECT c.relname::text || coalesce(' PARTITION BY ' || pg_get_partkeydef(c.oid), '')
              || coalesce(' WITH (' || array_to_string(c.reloptions, ', ') || ')', '') AS heading,
            ARRAY(
              SELECT concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN 'NOT NULL' END,
                               'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid),
                               CASE WHEN a.attstorage <> t.typstorage THEN 'STORAGE ' || a.attstorage::text END)
              FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
              LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
              WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
            ) || ARRAY(
              SELECT conname::text || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
              WHERE conrelid = c.oid AND contype <> 'n' ORDER BY conname
            ) || ARRAY(
              SELECT pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
              WHERE i.indrelid = c.oid AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid AND conrelid = c.oid)
              ORDER BY x.relname
            ) AS lines
     FROM pg_class c
     WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY c.relname`,
    [schema],
  );
  return rows.map(({ heading, lines }) => [heading, ...lines.map((line) => `  ${line}`), ""].join("\n")).join("\n");
}
